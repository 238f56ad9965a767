/** What the command line does to stored runs and programs, done on the page. */
import { faults, heading, pictures, settled } from './parts.mjs';

/** A run deleted with the keyboard, taken back, and deleted for good. */
export async function deleteRun({ page, base, run }) {
  const button = () => page.getByRole('button', { name: 'Delete', exact: true });
  const begin = async () => {
    await page.goto(`${base}/runs/${run}`);
    await button().focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/runs');
    await page.getByText('if this page stays open').waitFor();
  };
  const listed = async () => {
    await settled(page);
    return page.locator(`[data-run="${run}"]`).count();
  };
  await begin();
  const meanwhile = await listed();
  await page.keyboard.press('u');
  await page.getByText('if this page stays open').waitFor({ state: 'detached' });
  const after = await listed();
  await begin();
  await page.getByRole('button', { name: 'Delete now' }).click();
  await page.getByText('was deleted.').waitFor();
  const said = await page.locator('.deletions').innerText();
  const found = await faults(page, '/runs with a deleted run');
  await pictures(page, 'deleted run');
  await page.getByRole('button', { name: 'Dismiss' }).click();
  return { meanwhile, after, said, found, gone: await listed() };
}
/** A run scored again, followed to its end, and the old scores put back in force. */
export async function rescore({ page, base, run, scorer, stored }) {
  await page.goto(`${base}/runs/${run}`);
  await page.getByRole('link', { name: 'Rescore' }).click();
  await page.waitForURL('**/rescore');
  const scorers = page.getByLabel('Scorers, NAME or NAME:OPTIONS');
  const before = await scorers.inputValue();
  const empty = await faults(page, '/runs/ID/rescore');
  await page.setViewportSize({ width: 1280, height: 860 });
  const button = page.getByRole('button', { name: 'Rescore' });
  await scorers.fill('nonsense');
  await button.click();
  const refused = await page.getByRole('alert').innerText();
  await scorers.fill(scorer);
  await scorers.press('Tab');
  await button.focus();
  await page.keyboard.press('Enter');
  await page.getByText('The new scores are now in force').waitFor();
  const changed = await page.locator('.rescored p').first().innerText();
  const rows = await page.locator('.rescored tbody tr').allInnerTexts();
  const found = await faults(page, '/runs/ID/rescore with scores');
  await pictures(page, 'rescore');
  await page.getByLabel('What to do').selectOption('use');
  await page.getByLabel('Stored scores, NAME').fill(stored);
  await button.click();
  await page.locator('.rescored').nth(1).waitFor();
  return { before, empty, refused, changed, rows, found };
}

/** From a comparison to the samples that a difference needs, and what so many samples can show. */
export async function power({ page, base, query }) {
  await page.goto(`${base}/compare?${query}`);
  await page.getByRole('link', { name: 'How many samples a difference needs' }).click();
  await page.waitForURL('**/power?**');
  await page.locator('h1', { hasText: 'detect a difference of 2 points' }).waitFor();
  const measured = await heading(page);
  await page.goto(`${base}/power`);
  await page.getByLabel('Samples:').fill('500');
  await page.getByLabel('Share of samples').fill('0.2');
  await page.keyboard.press('Enter');
  await page.locator('h1', { hasText: '500 samples can' }).waitFor();
  const found = await faults(page, '/power');
  await pictures(page, 'power');
  return { measured, given: await heading(page), found };
}
