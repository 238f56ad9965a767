/** A benchmark drafted from a document, its samples decided by keys, and kept. */
import { faults, heading, settled } from './parts.mjs';

export async function draftBenchmark({ page, base, document, models }) {
  await page.goto(`${base}/benchmarks`);
  await page.getByRole('link', { name: 'Draft a benchmark from a document' }).click();
  await page.waitForURL('**/benchmark-draft');
  await settled(page);
  const empty = await faults(page, '/benchmark-draft');
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.locator('input[type=file]').setInputFiles(document);
  await page.getByLabel('Model that writes').fill(models.writer);
  await page.getByLabel('Another that checks').fill(models.checker);
  await page.getByLabel('For the difficulty').fill(models.checker);
  await page.getByLabel('Samples wanted').fill('6');
  await page.getByRole('button', { name: 'Draft', exact: true }).click();
  await page.getByRole('heading', { name: 'Keep it as a benchmark' }).waitFor();
  const progress = await page.locator('.draft-count').innerText();
  const facts = await page.locator('.section-head .note').first().innerText();
  await page.reload();
  await page.locator('.review-answer').waitFor();
  const found = await faults(page, '/benchmark-draft with samples');
  await page.setViewportSize({ width: 1280, height: 860 });
  const gap = await page.locator('.review-answer').evaluate((one) => globalThis.getComputedStyle(one).rowGap);
  await page.getByRole('button', { name: 'Discard the draft' }).click();
  const discarded = await page.getByRole('status').filter({ hasText: 'Undo' }).innerText();
  const writer = await page.getByLabel('Model that writes').inputValue();
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  const sample = await page.locator('.review-answer').innerText();
  const evidence = await page.locator('.draft-evidence').innerText();
  await page.locator('.draft-refused summary').click();
  const refused = await page.locator('.draft-refused li').allInnerTexts();
  await page.locator('h1').click();
  await page.keyboard.press('d');
  await page.getByText('0 kept, 1 dropped').waitFor();
  const isOff = await page.getByRole('button', { name: 'Save', exact: true }).isDisabled();
  await page.keyboard.press('u');
  await page.keyboard.press('k');
  await page.getByText('1 kept, 0 dropped').waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.waitForURL('**/benchmarks/keys%401');
  await settled(page);
  return {
    empty,
    progress,
    facts,
    found,
    sample,
    evidence,
    refused,
    isOff,
    gap,
    discarded,
    writer,
    title: await heading(page),
  };
}
