/** What the command line does to stored runs and programs, done on the page. */
import { faults, pictures, settled } from './parts.mjs';

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
