/** What is too long, too old, not there any more or not as it should be: each looks intended. */
import { readFileSync } from 'node:fs';
import { faults, heading, settled } from './parts.mjs';

const text = (page) => page.locator('main').innerText();

/** A run that is deleted while somebody looks at it, and links to what it was. */
export async function deletedRun({ page, base, run, result }) {
  await page.goto(`${base}/runs/${run}`);
  await settled(page);
  const before = await heading(page);
  const status = await page.evaluate(
    async (address) => (await globalThis.fetch(address, { method: 'DELETE' })).status,
    `/api/v1/runs/${run}`,
  );
  const links = {};
  for (const address of [
    `/runs/${run}`,
    `/runs/${run}/samples?at=${result}`,
    `/compare?a=${run}`,
    `/review/random?run=${run}`,
  ]) {
    await page.goto(base + address);
    await page.locator('.state.failing, .state').first().waitFor();
    links[address] = await text(page);
  }
  const found = await faults(page, 'a deleted run');
  await page.goto(`${base}/runs`);
  await settled(page);
  return { before, status, links, found, listed: (await text(page)).includes(run) };
}

/** Links that were right once: to a result, a pair, a plan and an ask that are not there. */
export async function staleLinks({ page, base, run }) {
  const seen = {};
  for (const [name, address] of Object.entries({
    result: `/runs/${run}/samples?at=999999999`,
    category: `/runs/${run}/samples?category=nowhere`,
    pair: `/compare?a=${run}&pair=77`,
    model: `/compare?a=${run}:demo/gone&b=${run}:demo/weak`,
    plan: '/plans/p-gone/edit',
    ask: '/arena/a-gone',
    card: '/scorecards/s-gone',
  })) {
    await page.goto(base + address);
    await settled(page);
    seen[name] = await text(page);
  }
  return seen;
}

/** The session ends while a plan, a comment and a prompt are being typed: nothing of them is lost. */
export async function endedSession({ page, context, base, link, run }) {
  await page.goto(base + link);
  await page.getByLabel('Password').fill('a long enough password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.navigation').waitFor();
  const seen = {};
  const end = () => context.clearCookies();
  const again = async () => {
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    const said = await dialog.innerText();
    await dialog.getByLabel('Name').fill('ada');
    await dialog.getByLabel('Password').fill('a long enough password');
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'detached' });
    return said;
  };
  await page.goto(`${base}/plan`);
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('models: [demo/weak]\nbenchmarks: [{benchmark: puzzles, limit: 9}]\n');
  await page.getByText('9 trials').waitFor();
  await page.getByLabel('Name', { exact: true }).fill('typed before');
  await end();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.evaluate(() => globalThis.dispatchEvent(new globalThis.Event('visibilitychange')));
  seen.said = await again();
  seen.plan = await page.locator('.cm-content').innerText();
  seen.name = await page.getByLabel('Name', { exact: true }).inputValue();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.waitForURL(/\/plans\/[^/]+\/edit$/);
  await page.goto(`${base}/runs/${run}/samples`);
  await page.locator('.sample-detail').waitFor();
  await settled(page);
  await page.getByLabel('Your comment').fill('half a thought');
  await end();
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await again();
  seen.comment = await page.getByLabel('Your comment').inputValue();
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.locator('.comments li').waitFor();
  await context.clearCookies();
  return seen;
}

/** An answer of a hundred million characters: its beginning at once, in little memory, and all of it as a file. */
export async function hugeAnswer({ page, base, run }) {
  await page.goto(`${base}/runs`);
  await settled(page);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const sent = [];
  page.on('response', (response) => sent.push(response));
  await page.goto(`${base}/runs/${run}/samples`);
  const shown = page.locator('.sample-detail');
  await shown.getByText('characters are shown').waitFor();
  await settled(page);
  const answer = await page.evaluate(() => {
    const [entry] = globalThis.performance
      .getEntriesByType('resource')
      .filter(({ name }) => /results\/\d+\?/.test(name));
    return { bytes: entry?.decodedBodySize ?? null, milliseconds: entry ? entry.responseEnd - entry.startTime : null };
  });
  const note = await shown.getByText('characters are shown').innerText();
  await shown.getByRole('button', { name: 'Show more of it' }).click();
  await shown.getByText('200,000 of').waitFor();
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const heap = metrics.find(({ name }) => name === 'JSHeapUsedSize').value;
  const waiting = page.waitForEvent('download');
  await shown.getByRole('link', { name: 'Download all of it' }).click();
  const file = await (await waiting).path();
  const whole = readFileSync(file, 'utf8');
  return {
    answer,
    note,
    heap,
    characters: whole.length,
    end: whole.slice(-40),
    name: (await waiting).suggestedFilename(),
  };
}

/** Texts that run from right to left, half characters and control characters, each shown so that it can be read. */
export async function oddTexts({ page, base, run, count }) {
  await page.goto(`${base}/runs/${run}/samples`);
  await page.locator('.sample-detail').waitFor();
  await settled(page);
  const seen = [];
  for (let index = 0; index < count; index += 1) {
    const block = page.locator('.sample-detail .foreign').nth(1);
    seen.push(
      await page.locator('.sample-detail').evaluate((one) => {
        const response = [...one.querySelectorAll('.foreign')].map((part) => [
          part.textContent,
          globalThis.getComputedStyle(part).direction,
        ]);
        return {
          texts: response,
          marked: [...one.querySelectorAll('.control-character')].map((part) => part.textContent),
        };
      }),
    );
    const before = page.url();
    await block.count();
    await page.keyboard.press('j');
    if (index + 1 < count) await page.waitForURL((url) => url.href !== before);
  }
  return { seen, found: await faults(page, 'odd texts') };
}

/** A run with so many models or categories that nobody reads them all: the first that matter, and how many there are. */
export async function overfull({ page, base, addresses }) {
  const seen = {};
  for (const [name, address] of Object.entries(addresses)) {
    await page.goto(base + address);
    await settled(page);
    seen[name] = {
      title: await heading(page),
      text: await text(page),
      rows: await page.locator('main tbody tr').count(),
    };
    seen[name].found = await faults(page, name);
  }
  return seen;
}

/** A browser whose clock is an hour behind the server's, and then a day ahead of it. */
export async function otherClocks({ page, base, run }) {
  const seen = {};
  for (const [name, hours] of Object.entries({ behind: -1, ahead: 24 })) {
    await page.clock.setFixedTime(new Date(Date.now() + hours * 3_600_000));
    await page.goto(`${base}/runs`);
    await page.locator(`[data-run="${run}"]`).waitFor();
    seen[name] = await page.locator(`[data-run="${run}"] time`).innerText();
  }
  return seen;
}
