/** Pictures of the dashboard for the documents: node journeys/pictures.mjs http://127.0.0.1:8000 RUN ../docs/images */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [base, run, folder] = process.argv.slice(2);
const profile = mkdtempSync(join(tmpdir(), 'chromium-'));
const context = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  headless: true,
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-sync',
  ],
  viewport: { width: 1280, height: 900 },
});
context.setDefaultTimeout(120_000);
const [page] = context.pages();
const views = {
  run: [`/runs/${run}`, '.evaluations'],
  compare: [`/compare?a=${run}:demo/strong&b=${run}:demo/weak`, '.flip-detail'],
};
for (const [name, [address, shown]] of Object.entries(views)) {
  await page.goto(base + address, { waitUntil: 'commit' });
  await page.locator(shown).first().waitFor();
  await page.waitForTimeout(1_000);
  await page.screenshot({ path: join(folder, `dashboard-${name}.png`) });
}
await context.close();
rmSync(profile, { recursive: true, force: true });
