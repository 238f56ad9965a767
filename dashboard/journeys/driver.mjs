/** Drives one Chromium for all browser tests: a line of JSON asks for a journey, a line of JSON says how it went. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import * as commands from './commands.mjs';
import * as drafting from './drafting.mjs';
import * as screens from './journeys.mjs';
import * as oddInput from './odd_input.mjs';

const journeys = { ...screens, ...commands, ...drafting, ...oddInput };

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const profile = mkdtempSync(join(tmpdir(), 'chromium-'));
const context = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  headless: true,
  args: FLAGS,
  viewport: { width: 1280, height: 860 },
  permissions: ['clipboard-read', 'clipboard-write'],
});
context.setDefaultTimeout(60_000);

/** A page that remembers what went wrong in it, and what it asked of others. */
async function newPage(base) {
  const page = await context.newPage();
  const seen = { errors: [], foreign: [], dialogs: [] };
  // A stream of events stays open, and of a page that was left not every request says how it ended.
  const waiting = new Set();
  page.on('framenavigated', () => waiting.clear());
  page.on('request', (request) => request.url().endsWith('/events') || waiting.add(request));
  page.on('response', (response) => waiting.delete(response.request()));
  page.on('requestfailed', (request) => waiting.delete(request));
  page.waitingFor = () => [...waiting].map((request) => request.url());
  page.on('pageerror', (error) => seen.errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('Failed to load resource'))
      seen.errors.push(message.text());
  });
  page.on('dialog', (dialog) => {
    seen.dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(base) && !url.startsWith('blob:')) seen.foreign.push(url);
  });
  return { page, seen };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { journey, base, given } = JSON.parse(line);
  const { page, seen } = await newPage(base);
  let answer;
  try {
    answer = {
      ok: true,
      value: await journeys[journey]({ page, context, base, newPage: () => newPage(base), ...given }),
    };
  } catch (error) {
    const picture = join(tmpdir(), `failed-${journey}.png`);
    await page.screenshot({ path: picture, fullPage: true }).catch(() => undefined);
    answer = {
      ok: false,
      error: `${error?.stack ?? error}`,
      text: await page.innerText('body').catch(() => ''),
      picture,
    };
  }
  for (const one of context.pages().slice(1)) await one.close();
  process.stdout.write(`${JSON.stringify({ ...answer, seen })}\n`);
}
await context.close();
rmSync(profile, { recursive: true, force: true });
