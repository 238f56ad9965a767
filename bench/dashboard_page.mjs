// Drives one Chromium for bench/dashboard.py: one line of JSON with what was asked, one with what was measured.
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { tools, first, list, rows } = JSON.parse(process.argv[2]);
const { chromium } = createRequire(join(tools, 'package.json'))('playwright-core');
const profile = mkdtempSync(join(tmpdir(), 'chromium-'));
const flags = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'];
const context = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  headless: true,
  args: [...flags, '--enable-precise-memory-info', '--js-flags=--expose-gc'],
  viewport: { width: 1440, height: 960 },
});
context.setDefaultTimeout(180_000);

const metrics = async (session) =>
  Object.fromEntries((await session.send('Performance.getMetrics')).metrics.map(({ name, value }) => [name, value]));

/** Until nothing is loaded any more, and nothing was for a while. */
const rest = async (page) => {
  await page.waitForLoadState('load');
  await page.waitForFunction(() => document.querySelector('#root, body')?.textContent.trim() !== '');
  await page.waitForTimeout(3_000);
};

/** What a first visit to a page costs: what is sent, and how long its scripts and its main thread work. */
async function firstVisit(address) {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  await session.send('Performance.enable');
  const sent = new Map();
  session.on('Network.responseReceived', ({ requestId, response, type }) =>
    sent.set(requestId, { url: response.url, type, bytes: 0 }),
  );
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const found = sent.get(requestId);
    if (found) found.bytes = encodedDataLength;
  });
  await page.goto(address);
  await rest(page);
  const found = await metrics(session);
  await page.close();
  const all = [...sent.values()].filter(({ url }) => !url.startsWith('data:'));
  const bytes = (...types) => all.filter(({ type }) => types.includes(type)).reduce((sum, one) => sum + one.bytes, 0);
  return {
    requests: all.length,
    elsewhere: all.filter(({ url }) => new URL(url).origin !== new URL(address).origin).length,
    bytes: all.reduce((sum, one) => sum + one.bytes, 0),
    script_bytes: bytes('Script'),
    style_bytes: bytes('Stylesheet'),
    script_seconds: found.ScriptDuration,
    task_seconds: found.TaskDuration,
    layout_seconds: found.LayoutDuration + found.RecalcStyleDuration,
  };
}

/** Jumps to rows of a long list, a frame's length while it is scrolled, and the heap after all of it. */
async function longList(address, targets) {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable');
  await page.goto(address);
  await page.locator('.jump input').waitFor();
  await rest(page);
  const jumps = [];
  for (const target of targets) {
    const before = await metrics(session);
    await page.locator('.jump input').fill(String(target));
    // From the key that sends the number to the first frame with its row.
    await page.evaluate(() => {
      const at = () => new URL(location.href).searchParams.get('at');
      const old = at();
      globalThis.jump = new Promise((done) => {
        const begin = () => {
          const begun = performance.now();
          const look = () => {
            const isShown = at() !== old && document.querySelector('.sample-row[aria-current]') !== null;
            if (isShown) requestAnimationFrame(() => done(performance.now() - begun));
            else requestAnimationFrame(look);
          };
          look();
        };
        document.addEventListener('submit', begin, { capture: true, once: true });
      });
    });
    await page.locator('.jump input').press('Enter');
    const milliseconds = await page.evaluate(() => globalThis.jump);
    await page.waitForTimeout(500);
    const after = await metrics(session);
    jumps.push({ row: target, milliseconds, script_seconds: after.ScriptDuration - before.ScriptDuration });
  }
  const frames = await page.evaluate(
    () =>
      new Promise((done) => {
        const list = document.querySelector('.virtual-list');
        const gaps = [];
        let last = performance.now();
        const step = (now) => {
          gaps.push(now - last);
          last = now;
          list.scrollTop = (list.scrollTop + 900) % (list.scrollHeight - list.clientHeight);
          if (gaps.length < 600) requestAnimationFrame(step);
          else done(gaps.slice(1));
        };
        requestAnimationFrame(step);
      }),
  );
  await session.send('HeapProfiler.enable');
  await session.send('HeapProfiler.collectGarbage');
  const { JSHeapUsedSize: heap } = await metrics(session);
  await page.close();
  return { jumps, frames: frames.length, slow_frames: frames.filter((gap) => gap > 50).length, heap_bytes: heap };
}

const measured = { visits: {} };
for (const [name, address] of Object.entries(first)) measured.visits[name] = await firstVisit(address);
if (list !== null) measured.list = await longList(list, rows);
process.stdout.write(`${JSON.stringify(measured)}\n`);
await context.close();
rmSync(profile, { recursive: true, force: true });
