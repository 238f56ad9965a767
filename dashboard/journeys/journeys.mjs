/** What people do with the dashboard, step by step; what each sees is returned and judged by the tests. */
import { existsSync, writeFileSync } from 'node:fs';
import { faults, heading, pictures, settled } from './parts.mjs';

/** A first visit: the demo is one key away, and ends in a verdict. */
export async function firstVisit({ page, base }) {
  await page.goto(base);
  await page.getByRole('button', { name: /Run the demo/ }).waitFor();
  const invitation = await heading(page);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/runs\/[a-z0-9]+$/);
  await page.locator('h1', { hasText: 'is better by' }).waitFor();
  const verdict = await heading(page);
  await page.reload();
  await page.locator('h1', { hasText: 'is better by' }).waitFor();
  return { invitation, verdict, again: await heading(page), run: page.url().split('/').at(-1) };
}

/** Two models compared, and the flips walked with the keyboard alone. */
export async function compare({ page, base, query }) {
  await page.goto(`${base}/compare?${query}`);
  await page.locator('.flip-detail').waitFor();
  const verdict = await heading(page);
  const seen = [];
  for (const key of ['n', 'n', 'N', 'd', 'b', 'w']) {
    await page.keyboard.press(key);
    seen.push({ key, search: new URL(page.url()).search, marks: await page.locator('mark.word').count() });
  }
  const figures = await page
    .locator('.value')
    .evaluateAll((found) => found.map((one) => [one.textContent, one.getAttribute('title')]));
  const legend = await page.locator('.mosaic-legend').innerText();
  await page.reload();
  await page.locator('.flip-detail').waitFor();
  return { verdict, seen, figures, legend, after: new URL(page.url()).search };
}

/** From the palette to a run's wrong answers, without a mouse. */
export async function keyboardOnly({ page, base, run }) {
  await page.goto(base);
  await settled(page);
  await page.keyboard.press('?');
  const keys = await page.getByRole('dialog').innerText();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.keyboard.type(run);
  await page.getByRole('option').first().waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/runs/${run}`);
  await page.getByRole('link', { name: /^Samples/ }).waitFor();
  await page.keyboard.press('s');
  await page.waitForURL('**/samples');
  await page.locator('.sample-detail').waitFor();
  await page.keyboard.press('w');
  await page.waitForURL(/at=/);
  const mark = await page.locator('.sample-head .mark').innerText();
  await page.keyboard.press('y');
  await page.getByText('Copied').waitFor();
  return { keys, mark, copied: await page.evaluate(() => navigator.clipboard.readText()), address: page.url() };
}

/** A plan with a mistake, mended, estimated and run. */
export async function plan({ page, base }) {
  await page.goto(`${base}/plan`);
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('models:\n  - demo/strong\nbenchmarks:\n  - benchmark: puzles\n    limit: 20\n');
  const mistake = await page.locator('.mistakes li').first().innerText();
  await page.reload();
  await page.locator('.mistakes li').first().waitFor();
  const kept = await page.locator('.cm-content').innerText();
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('models:\n  - demo/strong\nbenchmarks:\n  - benchmark: puzzles\n    limit: 20\n');
  await page.getByText('20 trials').waitFor();
  await page.keyboard.press('Control+Shift+Enter');
  await page.waitForURL(/\/runs\/[a-z0-9]+$/);
  await page.getByRole('link', { name: /Report/ }).waitFor();
  return { mistake, kept, title: await heading(page) };
}

/** Answers marked by keys alone: one taken back, one skipped, and all of it there again after a reload. */
export async function review({ page, base, run, model }) {
  await page.goto(`${base}/review/random?run=${run}&model=${encodeURIComponent(model)}&n=20`);
  const shown = page.locator('.review-answer');
  await shown.waitFor();
  const seen = [];
  for (const key of ['1', '0', 's', 'u', 'u', '0']) {
    const before = await shown.getAttribute('aria-label');
    await page.keyboard.press(key);
    await page.waitForFunction(
      (name) => document.querySelector('.review-answer')?.getAttribute('aria-label') !== name,
      before,
    );
    seen.push({ key, progress: await heading(page), sample: await shown.getAttribute('aria-label') });
  }
  const said = await page.locator('.review-buttons [role=status]').innerText();
  await page.waitForFunction((name) => document.body.innerText.includes(name), 'People against scorers');
  await settled(page);
  await page.reload();
  await shown.waitFor();
  await settled(page);
  return { seen, said, again: await heading(page), agreement: await page.locator('main').innerText() };
}

/** A link to an answer that is not among the first of its queue. */
export async function reviewBeyond({ page, base, run, at }) {
  await page.goto(`${base}/review/random?run=${run}&n=20&at=${at}`);
  await page.locator('.review-answer').waitFor();
  const shown = await page.locator('.review-answer').getAttribute('aria-label');
  await page.goto(base);
  await settled(page);
  return { shown, title: await heading(page) };
}

/** A failing program: which requirement, and what another program does better. */
export async function scorecard({ page, base, programs }) {
  await page.goto(`${base}/scorecards/${programs[0]}`);
  await page.locator('.requirement-grid').waitFor();
  const verdict = await heading(page);
  const rows = page.locator('.requirement-grid tbody tr');
  const all = await rows.count();
  await page.keyboard.press('t');
  await page.waitForURL(/failing=1/);
  const failing = await rows.evaluateAll((found) => found.map((row) => row.textContent.split(' ')[0]));
  await page.goto(`${base}/problems/columns`);
  await settled(page);
  for (const name of programs) {
    await page.locator('tr', { hasText: name }).getByRole('checkbox').focus();
    await page.keyboard.press('Space');
  }
  await page.keyboard.press('c');
  await page.waitForURL(/scorecards\?a=/);
  await settled(page);
  return { verdict, rows: all, failing, compared: await heading(page) };
}

/** A going run in two tabs, while the server ends and comes back: one connection, and both see the end. */
export async function live({ page, base, newPage, run, open, release }) {
  const streams = [];
  const { page: second } = await newPage();
  for (const [index, tab] of [page, second].entries())
    tab.on('request', (request) => request.url().endsWith('/events') && streams.push(index));
  await page.goto(`${base}/runs/${run}`);
  await page.locator('[data-live=live]').waitFor();
  await second.goto(`${base}/runs/${run}`);
  await second.locator('[data-live=live]').waitFor();
  const before = [...streams];
  writeFileSync(open, '');
  for (const tab of [page, second]) await tab.locator('[data-live=lost]').waitFor();
  const said = await second.locator('.live').innerText();
  for (const tab of [page, second]) await tab.locator('[data-live=live]').waitFor();
  writeFileSync(release, '');
  const ends = [];
  for (const tab of [page, second]) {
    await tab.getByRole('link', { name: /Report/ }).waitFor();
    ends.push(await heading(tab));
  }
  // The leader leaves; the other tab takes the connection over.
  await page.close();
  const until = Date.now() + 30_000;
  while (!streams.includes(1) && Date.now() < until) await second.waitForTimeout(50);
  return { before, said, ends, hasTakenOver: streams.includes(1), isReleased: existsSync(release) };
}

/** A result marked, commented, and found again by its address; filters that hide everything are lifted by one click. */
export async function sample({ page, base, run }) {
  await page.goto(`${base}/runs/${run}/samples?mark=zero`);
  await page.locator('.sample-detail').waitFor();
  const wrong = await page.locator('.samples-head [role=status]').innerText();
  await page.keyboard.press('j');
  await page.waitForURL(/at=\d+/);
  await page.keyboard.press('1');
  await page.locator('.own-mark [aria-pressed=true]').waitFor();
  await page.getByLabel('Your comment').fill('<b>It</b> reads the table wrongly.');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.locator('.comments li').waitFor();
  const at = new URL(page.url()).searchParams.get('at');
  await page.reload();
  await page.locator('.comments li').waitFor();
  await settled(page);
  await page.getByText('Prompt as it was sent').click();
  const prompt = await page.locator('.messages').first().innerText();
  const comment = await page.locator('.comments li .foreign').innerText();
  await page.goto(`${base}/runs/${run}/samples?text=nothinghasthistext`);
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await page.locator('.sample-detail').waitFor();
  return { wrong, at, comment, prompt, all: await page.locator('.samples-head [role=status]').innerText() };
}

/** Repeats are one row each; equal answers are counted together. */
export async function repeats({ page, base, run }) {
  await page.goto(`${base}/runs/${run}/samples`);
  await page.getByText('distinct answers').waitFor();
  await settled(page);
  const folded = await page.locator('.samples-head [role=status]').innerText();
  const said = await page.getByText('distinct answers').innerText();
  await page.goto(`${base}/runs/${run}/samples?repeats=all`);
  await settled(page);
  return { folded, said, all: await page.locator('.samples-head [role=status]').innerText() };
}

const enter = async (page, base, link) => {
  await page.goto(base + link);
  await page.getByLabel('Password').fill('a long enough password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.navigation').waitFor();
};

const overlap = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

/** An administrator invites somebody who may only read; each sees what his role may do, and no button beyond. */
export async function accounts({ page, context, base, link }) {
  await enter(page, base, link);
  await page.goto(`${base}/settings?part=server`);
  const users = page.getByRole('region', { name: 'Users' });
  await users.getByLabel('Name').fill('vera');
  await users.getByRole('button', { name: 'Add' }).click();
  const invitation = await users.locator('.secret').innerText();
  await page.goto(`${base}/settings?part=project`);
  const members = page.getByRole('region', { name: 'Members' });
  await members.getByLabel('User', { exact: true }).fill('vera');
  await members.getByRole('button', { name: 'Add' }).click();
  await members.locator('tr', { hasText: 'vera' }).waitFor();
  const keys = page.getByRole('region', { name: 'API keys' });
  await keys.getByLabel('Name').fill('nightly');
  await keys.getByRole('button', { name: 'Add' }).click();
  const key = await keys.locator('.secret').innerText();
  await page.reload();
  await keys.locator('tr', { hasText: 'nightly' }).waitFor();
  const isShownAgain = (await page.content()).includes(key);
  await keys.getByRole('button', { name: 'Revoke' }).click();
  await keys.getByText('revoked').waitFor();
  await page.goto(`${base}/settings?part=server`);
  await page.getByRole('region', { name: 'Audit log' }).locator('tbody tr').first().waitFor();
  const audit = await page.getByRole('region', { name: 'Audit log' }).innerText();
  await context.clearCookies();
  await enter(page, base, new URL(invitation).pathname + new URL(invitation).hash);
  await page.goto(`${base}/settings?part=project`);
  await settled(page);
  const buttons = await page.locator('main button').allInnerTexts();
  const parts = await page.locator('.parts a').allInnerTexts();
  await page.goto(`${base}/settings?part=server`);
  await settled(page);
  const hidden = await page.locator('main').innerText();
  const places = await page.locator('.navigation li').allInnerTexts();
  await page.goto(`${base}/benchmarks`);
  await page.getByRole('region', { name: 'Your own benchmarks' }).waitFor();
  await settled(page);
  const uploads = await page.locator('main input[type=file]').count();
  await page.goto(`${base}/plan`);
  await page.locator('.cm-content').waitFor();
  await settled(page);
  const changes = await page.getByRole('button', { name: /^(Run|Save|Delete)/ }).count();
  await page.setViewportSize({ width: 390, height: 844 });
  const boxes = [];
  for (const part of ['.brand', '.foot', 'ul']) boxes.push(await page.locator(`.navigation > ${part}`).boundingBox());
  const isCovered = boxes.some((one, i) => boxes.some((other, j) => i < j && overlap(one, other)));
  await context.clearCookies();
  return { key, isShownAgain, audit, buttons, parts, hidden, places, uploads, changes, isCovered };
}

/** An exported site in a folder of a plain web server: leaderboard, a run, its comparison, and back again. */
export async function site({ page, base, folder, run }) {
  await page.goto(`${base}/${folder}/`);
  await settled(page);
  const home = await heading(page);
  await page.goto(`${base}/${folder}/#/leaderboard`);
  await page.locator('.board').first().waitFor();
  const leader = await heading(page);
  await page.keyboard.press('c');
  await page.waitForURL(/#\/compare/);
  await page.locator('.flip-detail').waitFor();
  const neighbours = await heading(page);
  await page.goto(`${base}/${folder}/#/compare?a=${run}`);
  await page.locator('.flip-detail').waitFor();
  const verdict = await heading(page);
  await page.keyboard.press('n');
  await page.waitForURL(/at=/);
  await page.goto(`${base}/${folder}/#/runs/${run}`);
  await settled(page);
  const buttons = await page.locator('main .page-head .button').evaluateAll((all) => all.map((one) => one.textContent));
  await page.goto(`${base}/${folder}/#/runs/${run}/samples`);
  await page.locator('.state').first().waitFor();
  return { home, leader, neighbours, verdict, buttons, samples: await page.locator('main').innerText() };
}

/** Three runs chosen by keys and compared at once. */
export async function severalRuns({ page, base, text }) {
  await page.goto(`${base}/runs?text=${text}`);
  await page.locator('.runs-table tbody tr').nth(2).waitFor();
  for (const key of ['x', 'j', 'x', 'j', 'x', 'c']) await page.keyboard.press(key);
  await page.waitForURL(/\/compare\?a=/);
  await page.locator('.pairs').waitFor();
  return {
    search: new URL(page.url()).search,
    pairs: await page.locator('.pairs tbody a').allInnerTexts(),
    note: await page.getByText('after Holm over').last().innerText(),
  };
}

/** What is not there, or not allowed, or not English. */
export async function dead({ page, base }) {
  const found = {};
  for (const address of ['/runs/nope', '/nowhere', '/benchmarks/nope', '/compare?a=nope', '/runs/%E0%A4']) {
    await page.goto(base + address);
    await page.locator('.state').waitFor();
    found[address] = await page.locator('main').innerText();
  }
  return found;
}

/** Every screen in both themes. */
export async function tour({ page, base, addresses }) {
  const found = [];
  for (const address of addresses) {
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.goto(base + address);
    found.push(...(await faults(page, address)));
    await pictures(page, address);
  }
  return found;
}

/** A benchmark with a fault is checked, mended, uploaded, given a second version; the first is archived. */
export async function ownBenchmarks({ page, base, folders }) {
  await page.goto(`${base}/benchmarks`);
  const own = page.getByRole('region', { name: 'Your own benchmarks' });
  const rows = () => own.locator('tbody tr td:first-child').allInnerTexts();
  const send = async (folder, button, role) => {
    await own.locator('input[type=file]').nth(1).setInputFiles(folder);
    await own.getByRole('button', { name: button, exact: true }).click();
    const said = own.getByRole(role).filter({ visible: true });
    await said.waitFor();
    return said.innerText();
  };
  const broken = await send(folders.broken, 'Check', 'alert');
  const sound = await send(folders.first, 'Check', 'status');
  await own.getByText('None yet.').waitFor();
  const kept = await send(folders.first, 'Upload', 'status');
  const other = await send(folders.other, 'Upload', 'alert');
  await send(folders.second, 'Upload', 'status');
  await own.locator('tbody tr').nth(1).waitFor();
  const both = await rows();
  await own.getByRole('button', { name: 'Archive towns@1' }).click();
  await own.locator('tbody tr').nth(1).waitFor({ state: 'detached' });
  const offered = await rows();
  await own.getByLabel('Archived, too').check();
  await own.getByText('archived', { exact: true }).waitFor();
  const all = await rows();
  await own.getByRole('button', { name: 'Remove towns@2' }).click();
  await own.getByText('towns@2 was deleted.').waitFor();
  const left = await rows();
  const found = await faults(page, '/benchmarks');
  await page.setViewportSize({ width: 1280, height: 860 });
  await own.getByRole('button', { name: 'Undo' }).click();
  await own.getByText('towns@2 was deleted.').waitFor({ state: 'detached' });
  await own.locator('tbody tr').nth(1).waitFor();
  const restored = await rows();
  await own.getByRole('link', { name: 'towns@1' }).click();
  await page.getByRole('link', { name: 'New run' }).click();
  await page.waitForURL(/\/plan\?benchmark=/);
  return { broken, sound, kept, other, both, offered, all, left, restored, found, plan: new URL(page.url()).search };
}

/** `j` is pressed beyond the rows that are loaded, while it is not yet known where further pages begin. */
export async function edge({ page, base, run }) {
  let release;
  const held = new Promise((done) => (release = done));
  await page.route('**/positions?*', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`${base}/runs/${run}/samples`);
  await page.locator('.sample-detail').waitFor();
  const at = () => new URL(page.url()).searchParams.get('at');
  for (let index = 1; index < 100; index += 1) {
    const before = at();
    await page.keyboard.press('j');
    await page.waitForURL((url) => url.searchParams.get('at') !== before);
  }
  const last = at();
  for (let index = 0; index < 3; index += 1) await page.keyboard.press('j');
  const waiting = at();
  release();
  await page.waitForURL((url) => url.searchParams.get('at') !== last);
  await settled(page);
  return { last, waiting, next: at() };
}

/** A run is watched until it is decided, stopped by a key, and taken up again by another. */
export async function watched({ page, base, run, release }) {
  await page.goto(`${base}/runs/${run}`);
  const stop = page.getByRole('button', { name: /^Stop: it is decided/ });
  await stop.waitFor();
  const decided = await heading(page);
  const every = page.getByRole('region', { name: 'Every answer' });
  const dots = await every.getByRole('img').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
  const strip = every.locator('.dot-strip').first();
  const pace = await page.getByRole('region', { name: 'Pace' }).innerText();
  const lead = await page.locator('.lead').innerText();
  await pictures(page, 'run-live');
  const found = await faults(page, '/runs/live');
  await strip.click({ position: { x: 4, y: 4 } });
  await page.locator('.sample-detail').waitFor();
  const first = new URL(page.url()).search;
  await page.goBack();
  await stop.waitFor();
  await page.locator('h1').click();
  await page.keyboard.press('.');
  await page.locator('h1', { hasText: 'Stopped.' }).waitFor();
  const stopped = await heading(page);
  found.push(...(await faults(page, '/runs/stopped')));
  await page.getByRole('button', { name: /^Resume/ }).waitFor();
  writeFileSync(release, '');
  // While requests are in flight the server refuses to take the run up again.
  const refusal = { status: 409, contentType: 'application/problem+json', body: '{"detail": "It is being executed."}' };
  await page.route('**/resume', (route) => route.fulfill(refusal), { times: 1 });
  await page.keyboard.press('p');
  await page.getByRole('button', { name: /^Waiting for requests in flight/ }).waitFor();
  await page.locator('h1', { hasText: 'is better by' }).waitFor();
  return { decided, dots, pace, lead, first, stopped, found, ended: await heading(page) };
}

/** An ask is found among the runs, opened by a key, and cannot be chosen for a comparison. */
export async function askAmongRuns({ page, base, ask }) {
  await page.goto(`${base}/runs`);
  await page.locator('.runs-table tbody tr').first().waitFor();
  const without = await page.locator(`tr[data-run="${ask}"]`).count();
  await page.getByLabel('Kind').selectOption({ label: 'All' });
  const row = page.locator(`tr[data-run="${ask}"]`);
  await row.waitFor();
  const choices = await row.locator('input').count();
  const said = await row.innerText();
  const found = await faults(page, '/runs?kind=all');
  await page.getByLabel('Kind').selectOption({ label: 'Asks in the arena' });
  await page.waitForURL(/kind=playground/);
  await page.locator('.runs-table tbody tr').first().and(row).waitFor();
  await page.locator('h1').click();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/arena/${ask}`);
  return { without, choices, said, found };
}

/** What a webhook was told, sent again. */
export async function deliveries({ page, base, run }) {
  await page.goto(`${base}/settings?part=project`);
  const hooks = page.getByRole('region', { name: 'Webhooks' });
  await hooks.getByRole('button', { name: 'Deliveries' }).click();
  const row = hooks.getByRole('region', { name: 'Deliveries' }).locator('tbody tr', { hasText: run });
  await row.getByText('delivered').waitFor();
  const first = await row.innerText();
  await row.getByRole('button', { name: 'Show' }).click();
  const body = await hooks.locator('.delivery-body').innerText();
  await pictures(page, 'deliveries');
  const found = await faults(page, '/settings?part=project');
  const sent = page.waitForResponse((answer) => answer.url().endsWith('/resend'));
  await row.getByRole('button', { name: 'Send again' }).click();
  const status = (await sent).status();
  await row.getByText('delivered').waitFor();
  return { first, body, found, status };
}

/** What was used by model; a budget is set, changed and removed. */
export async function usage({ page, base }) {
  await page.goto(`${base}/settings?part=usage`);
  await settled(page);
  await page.getByLabel('Told apart by').selectOption('model');
  const used = page.getByRole('region', { name: 'What was used' });
  await used.locator('th', { hasText: 'Model' }).first().waitFor();
  await settled(page);
  const rows = await used
    .locator('tbody tr')
    .evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.innerText)));
  const reasons = await used.locator('.dash').evaluateAll((all) => all.map((one) => one.title));
  await pictures(page, 'usage');
  const found = await faults(page, '/settings?part=usage');
  await page.goto(`${base}/settings?part=project`);
  const budgets = page.getByRole('region', { name: 'Budgets' });
  await budgets.getByLabel('Name, or the key’s id').fill('nobody');
  await budgets.getByLabel('At most, USD').fill('5');
  await budgets.getByRole('button', { name: 'Set' }).click();
  const refused = await budgets.getByRole('alert').innerText();
  await budgets.getByLabel('Name, or the key’s id').fill('local');
  await budgets.getByRole('button', { name: 'Set' }).click();
  await budgets.locator('tbody tr', { hasText: '$5.00' }).waitFor();
  await budgets.getByRole('button', { name: 'Change' }).click();
  await budgets.getByLabel('At most, USD').fill('7.5');
  await budgets.getByLabel('Runs at once').fill('3');
  await budgets.getByRole('button', { name: 'Set' }).click();
  await budgets.locator('tbody tr', { hasText: '$7.50' }).waitFor();
  const changed = await budgets.locator('tbody tr').innerText();
  await pictures(page, 'budgets');
  found.push(...(await faults(page, '/settings?part=project')));
  await budgets.getByRole('button', { name: 'Remove' }).click();
  await budgets.getByText('None.').waitFor();
  return { rows, reasons, refused, changed, found };
}

/** Four models side by side, of which one is a hundred times slower and one fails; then all are stopped. */
export async function arena({ page, base, models, prompt }) {
  await page.goto(`${base}/arena`);
  await page.locator('.arena-models li').first().waitFor();
  while ((await page.locator('.arena-models li button').count()) > 0)
    await page.locator('.arena-models li button').first().click();
  for (const model of models) {
    await page.getByRole('combobox').fill(model);
    await page.keyboard.press('Enter');
  }
  await page.locator('.arena-form textarea').first().fill(prompt);
  await page.keyboard.press('Control+Enter');
  await page.waitForURL(/\/arena\/a-/);
  const columns = page.locator('.arena-column');
  const state = (index) => columns.nth(index).getAttribute('aria-busy');
  const texts = () => columns.locator('.foreign').evaluateAll((found) => found.map((one) => one.textContent));
  await page.locator('.arena-column[aria-busy=false]').nth(2).waitFor();
  const early = { states: [], texts: await texts(), error: await page.locator('.arena-error').innerText() };
  for (let index = 0; index < models.length; index += 1) early.states.push(await state(index));
  early.figures = await columns.nth(0).locator('.arena-figures').innerText();
  await page.getByRole('button', { name: 'Stop all' }).click();
  await page
    .locator('.arena-column[aria-busy=false]')
    .nth(models.length - 1)
    .waitFor();
  await page.getByText('Stopped; what it cost is not known.').waitFor();
  const late = await texts();
  await page.reload();
  await page.getByText('Stopped; what it cost is not known.').waitFor();
  return { early, late, again: await texts(), ask: page.url().split('/').at(-1) };
}

/** The form offers the models that were asked last, by whichever journey: these take their place. */
async function chooseModels(page, models) {
  await page.locator('.arena-models li').first().waitFor();
  while ((await page.locator('.arena-models li button').count()) > 0)
    await page.locator('.arena-models li button').first().click();
  const search = page.getByRole('combobox');
  for (const model of models) {
    await search.fill(model);
    await page.getByRole('option').first().getByText(model).waitFor();
    await page.keyboard.press('Enter');
  }
  await page.locator('h1').click(); // the list of models lies over the prompt while it is open
}

/** A text is dropped and a picture pasted; then the conversation goes on from one of the answers, with a tool. */
export async function files({ page, base }) {
  await page.goto(`${base}/arena`);
  await chooseModels(page, ['demo/str', 'demo/wea']);
  const form = page.locator('.arena-form');
  const prompt = form.locator('textarea').first();
  await prompt.click();
  await page.evaluate(async () => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 8, height: 8 });
    const png = await new Promise((done) => canvas.toBlob(done, 'image/png'));
    await navigator.clipboard.write([new globalThis.ClipboardItem({ 'image/png': png })]);
  });
  await page.keyboard.press('Control+v');
  const listed = form.locator('.arena-files li');
  await listed.first().waitFor();
  const pasted = await listed.allInnerTexts();
  const dropped = await page.evaluateHandle(() => {
    const data = new globalThis.DataTransfer();
    data.items.add(new globalThis.File(['The towers are 40 and 2 metres high.'], 'towers.txt', { type: 'text/plain' }));
    data.items.add(new globalThis.File(['MZ'], 'program.exe', { type: 'application/x-msdownload' }));
    return data;
  });
  await form.dispatchEvent('dragover', { dataTransfer: dropped });
  const isOver = await form.evaluate((one) => one.classList.contains('over'));
  await form.dispatchEvent('drop', { dataTransfer: dropped });
  await listed.nth(1).waitFor();
  const refused = await page.locator('.arena-form .notice').first().innerText();
  await prompt.fill('How high are they together?');
  await prompt.press('Control+Enter');
  const mixed = await page.getByRole('alert').innerText();
  await listed.first().getByRole('button').click();
  await pictures(page, 'arena-files');
  await prompt.press('Control+Enter');
  await page.waitForURL(/\/arena\/a-/);
  await page.locator('.arena-column[aria-busy=false]').nth(1).waitFor();
  const first = page.url().split('/').at(-1);
  await page
    .getByRole('link', { name: /^Go on from this answer/ })
    .first()
    .click();
  await page.waitForURL(/from=/);
  const next = page.locator('.arena-form textarea').first();
  await next.and(page.locator(':focus')).waitFor();
  const before = await page.locator('.arena-turn-before textarea').evaluateAll((all) => all.map((one) => one.value));
  await page.getByRole('button', { name: 'Add a turn' }).click();
  await page.getByRole('button', { name: 'Remove turn 3' }).click();
  await page.getByLabel('Tools (a JSON list of functions)').fill('{}');
  await next.fill('And in feet?');
  await next.press('Control+Enter');
  const noList = await page.getByRole('alert').innerText();
  await page.getByLabel('Tools (a JSON list of functions)').fill('');
  const found = await faults(page, '/arena with turns');
  await next.press('Control+Enter');
  await page.waitForURL((url) => /\/arena\/a-/.test(url.pathname) && !url.pathname.endsWith(first));
  await page.locator('.arena-column[aria-busy=false]').nth(1).waitFor();
  return {
    pasted,
    isOver,
    refused,
    mixed,
    first,
    before,
    noList,
    found,
    second: new URL(page.url()).pathname.split('/').at(-1),
  };
}

/** A picture is pasted, then a PDF dropped, and each is asked about with two prompts at once. */
export async function sentFiles({ page, base, model, pdf }) {
  const form = page.locator('.arena-form');
  const prompt = form.locator('textarea').first();
  const ask = async (text) => {
    await form.locator('.arena-files li').first().waitFor();
    await prompt.fill(text);
    await prompt.press('Control+Enter');
    await page.waitForURL(/\/arena\/a-/);
    await page.locator('.arena-column[aria-busy=false]').nth(1).waitFor();
    await settled(page);
    return {
      title: await heading(page),
      answers: await page.locator('.arena-column .foreign').allInnerTexts(),
      asks: decodeURIComponent(page.url().split('/').at(-1)).split(','),
    };
  };
  const choose = async () => {
    await page.goto(`${base}/arena`);
    await chooseModels(page, []);
    await page.getByRole('combobox').fill(model);
    await page.keyboard.press('Enter');
    await page.locator('h1').click();
  };
  await choose();
  await prompt.click();
  await page.evaluate(async () => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 8, height: 8 });
    const png = await new Promise((done) => canvas.toBlob(done, 'image/png'));
    await navigator.clipboard.write([new globalThis.ClipboardItem({ 'image/png': png })]);
  });
  await page.keyboard.press('Control+v');
  const picture = await ask('What is 3 + 4?\n---\nWhat is 5 + 6?');
  await page.reload();
  await page.locator('.arena-column[aria-busy=false]').nth(1).waitFor();
  const again = await page.locator('.arena-column .foreign').allInnerTexts();
  await choose();
  const dropped = await page.evaluateHandle((text) => {
    const bytes = Uint8Array.from(globalThis.atob(text), (one) => one.charCodeAt(0));
    const data = new globalThis.DataTransfer();
    data.items.add(new globalThis.File([bytes], 'keys.pdf', { type: 'application/pdf' }));
    return data;
  }, pdf);
  await form.dispatchEvent('drop', { dataTransfer: dropped });
  const document = await ask('What is 7 + 8?\n---\nWhat is 9 + 1?');
  return { picture, again, document };
}

/** Two people of two projects: neither finds what the other has, by its list, its search or its address. */
export async function twoProjects({ page, context, base, links }) {
  const seen = [];
  for (const link of links) {
    await context.clearCookies();
    await enter(page, base, link);
    await page.goto(`${base}/runs`);
    await settled(page);
    const empty = await page.locator('main').innerText();
    await page.goto(base);
    await page.getByRole('button', { name: /Run the demo/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/runs\/[a-z0-9]+$/);
    await page.locator('h1', { hasText: 'is better by' }).waitFor();
    const run = page.url().split('/').at(-1);
    const foreign = [];
    for (const other of seen) {
      for (const address of [`/runs/${other.run}`, `/runs/${other.run}/samples`, `/compare?a=${other.run}`]) {
        await page.goto(base + address);
        await page.locator('.state').waitFor();
        foreign.push(await page.locator('main').innerText());
      }
    }
    await page.goto(`${base}/runs`);
    await page.locator('.runs-table').waitFor();
    seen.push({ run, empty, foreign, listed: await page.locator('main').innerText() });
  }
  await context.clearCookies();
  return seen;
}

/** A long list of samples: its last row is one number away, its end one key, and a search is over all of it. */
export async function manyRows({ page, base, run, text }) {
  await page.goto(`${base}/runs/${run}/samples`);
  const rows = page.locator('.virtual-list [role=listitem]');
  await rows.first().waitFor();
  const total = await page.getByText(/^[\d,]+ results$/).innerText();
  const size = Number(total.replaceAll(/\D/g, ''));
  const places = [];
  for (const row of [size, Math.floor(size / 2), 1]) {
    await page.getByLabel('Go to row').fill(String(row));
    await page.getByLabel('Go to row').press('Enter');
    const there = page.locator(`.virtual-list [aria-posinset="${row}"]`);
    await there.locator('[aria-current=true]').waitFor();
    places.push([await there.getAttribute('aria-setsize'), new URL(page.url()).searchParams.get('at')]);
  }
  const drawn = await rows.count();
  await page.getByLabel('Text', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
  await page.getByText(/^[1-9]\d? results?$/).waitFor();
  return { total, size, places, drawn, found: await page.getByText(/^[1-9]\d? results?$/).innerText() };
}

/** A plan is saved under a name, changed, and what was not saved is there after a reload; then it is saved and deleted. */
export async function savedPlan({ page, base }) {
  await page.goto(`${base}/plan`);
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('models:\n  - demo/strong\nbenchmarks:\n  - benchmark: puzzles\n    limit: 20\n');
  await page.getByLabel('Name', { exact: true }).fill('weekly');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.waitForURL(/\/plans\/[^/]+\/edit$/);
  await page.locator('h1', { hasText: 'weekly' }).waitFor();
  const plan = page.url().split('/').at(-2);
  await page.getByText('as it is saved').waitFor();
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+End');
  await page.keyboard.insertText('seed: 77 # so that it can be repeated\n');
  await page.getByText('changed, not saved').waitFor();
  await page.reload();
  await page.getByText('changed, not saved').waitFor();
  const kept = await page.locator('.cm-content').innerText();
  const found = await faults(page, '/plans/ID/edit');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('as it is saved').waitFor();
  // What is typed while the server saves is not lost.
  let answer;
  const isAsked = new Promise((asked) => {
    void page.route('**/api/v1/plans/*', async (route) => {
      if (route.request().method() === 'PUT') await new Promise((go) => asked((answer = go)));
      await route.continue();
    });
  });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await isAsked;
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+End');
  await page.keyboard.insertText('epochs: 1\n');
  const saved = page.waitForResponse((one) => one.request().method() === 'PUT');
  answer();
  await saved;
  await page.unroute('**/api/v1/plans/*');
  await page.getByText('changed, not saved').waitFor();
  const typed = await page.locator('.cm-content').innerText();
  const runNow = async () => {
    await page.getByRole('button', { name: /^Run/ }).click();
    await page.waitForURL(/\/runs\/[^/]+$/);
    return page.url().split('/').at(-1);
  };
  const runs = [await runNow()];
  await page.goto(`${base}/plans/${plan}/edit`);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('as it is saved').waitFor();
  runs.push(await runNow());
  await page.goto(`${base}/plan`);
  await page.getByRole('link', { name: 'weekly' }).waitFor();
  const listed = await page.locator('.plan-saved').innerText();
  return { plan, kept, typed, found, listed, runs };
}

/** Somebody saves a plan that another is changing: nothing is overwritten unseen. A deletion is taken back. */
export async function outdatedPlan({ page, base, plan, name }) {
  const address = `${base}/plans/${plan}/edit`;
  const type = async (text) => {
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+End');
    await page.keyboard.insertText(text);
    await page.getByText('changed, not saved').waitFor();
  };
  const saveElsewhere = () =>
    page.evaluate(async (id) => {
      const place = `/api/v1/plans/${id}`;
      const { name, plan, revision } = await (await globalThis.fetch(place)).json();
      const headers = { 'Content-Type': 'application/json', 'If-Match': `"${revision}"` };
      const body = JSON.stringify({ name, plan: { ...plan, seed: (plan.seed ?? 0) + 1 } });
      return (await globalThis.fetch(place, { method: 'PUT', headers, body })).status;
    }, plan);
  const save = page.getByRole('button', { name: 'Save', exact: true });
  const notice = page.getByRole('alert').filter({ hasText: 'saved again since you began' });
  await page.goto(address);
  await type('epochs: 2\n');
  const statuses = [await saveElsewhere()];
  await page.reload();
  await notice.waitFor();
  const isHeld = await save.isDisabled();
  const found = await faults(page, '/plans/ID/edit behind');
  await page.getByRole('button', { name: 'Take the newer plan' }).click();
  await page.getByText('as it is saved').waitFor();
  const theirs = await page.locator('.cm-content').innerText();
  await type('epochs: 3\n');
  statuses.push(await saveElsewhere());
  await page.reload();
  await notice.waitFor();
  await page.getByRole('button', { name: 'Keep my text' }).click();
  await save.click();
  await page.getByText('as it is saved').waitFor();
  const mine = await page.locator('.cm-content').innerText();
  await page.goto(`${base}/plan`);
  await page.getByRole('button', { name: `Remove ${name}` }).click();
  await page.getByText(`${name} was deleted.`).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.locator('.plan-saved').getByRole('link', { name }).waitFor();
  return { statuses, isHeld, found, theirs, mine };
}

/** A blind vote by one key, then the same with one thing changed, and a line of data made of it. */
export async function blindVote({ page, base }) {
  await page.goto(`${base}/arena`);
  await chooseModels(page, ['demo/str', 'demo/wea']);
  await page.locator('.arena-form textarea').first().fill('What is 3 + 4?');
  await page.locator('h1').click();
  await page.keyboard.press('b');
  await page.locator('.arena-form textarea').first().press('Control+Enter');
  await page.waitForURL(/\/arena\/a-/);
  await page.locator('.arena-vote').waitFor();
  const hidden = await page.locator('.arena-columns').innerText();
  await page.locator('h1').click();
  await page.keyboard.press('ArrowLeft');
  await page.getByText('preferred', { exact: true }).waitFor();
  const shown = await page.locator('.arena-column h3').allInnerTexts();
  const preferred = await page.locator('.arena-column', { hasText: 'preferred' }).locator('h3').innerText();
  await page.locator('.arena-form textarea').first().fill('What is 3 + 5?');
  await page.getByLabel('Blind').uncheck();
  await page.locator('.arena-form textarea').first().press('Control+Enter');
  await page.waitForURL(/before=/);
  await page.locator('mark.word').first().waitFor();
  const changed = await page.locator('.arena-changed').innerText();
  await page.getByRole('button', { name: 'Turn into a sample' }).click();
  await page.getByRole('button', { name: 'Copy the line' }).click();
  await page.locator('.arena-dialog .foreign').waitFor();
  return {
    hidden,
    shown,
    preferred,
    changed,
    sample: JSON.parse(await page.evaluate(() => navigator.clipboard.readText())),
  };
}

/** Every answer, id and category of a run that tries to be more than text, on every screen that shows them. */
export async function hostile({ page, base, run, query, count, programs, more }) {
  const seen = { hits: [], elements: [], texts: [], links: [], asMarkdown: 0 };
  // Looked at before a page is left: the next one begins without what ran in this one.
  const look = async () => {
    const { hit, elements, text, links } = await page.evaluate(() => ({
      hit: globalThis.hit ?? null,
      links: [...document.querySelectorAll('.markdown a')].map((one) => `${one.href} ${one.rel}`),
      elements: [...document.querySelectorAll('main :is(img, iframe, script, object, embed, video, base, style, math)')]
        .concat(...document.querySelectorAll('main :is([onload], [onerror], [ontoggle], [onclick], [srcdoc])'))
        .map((one) => one.outerHTML),
      text: document.querySelector('.sample-detail')?.textContent ?? '',
    }));
    if (hit !== null) seen.hits.push(page.url());
    seen.elements.push(...elements);
    seen.links.push(...links);
    return text;
  };
  await page.goto(`${base}/runs/${run}/samples?model=python/hostile:answer`);
  await page.locator('.sample-detail').waitFor();
  for (let index = 0; index < count; index += 1) {
    seen.texts.push(await look());
    const before = page.url();
    await page.keyboard.press('j');
    if (index + 1 < count) await page.waitForURL((url) => url.href !== before);
  }
  // The same answers as Markdown, wherever answers are shown.
  await page.goto(`${base}/runs/${run}/samples?model=python/hostile:answer`);
  await page.locator('.answer-form').getByRole('button', { name: 'Markdown' }).press('Enter');
  for (let index = 0; index < count; index += 1) {
    await page.locator('.sample-detail .markdown').waitFor({ state: 'attached' });
    seen.asMarkdown += 1;
    await look();
    for (const link of await page.locator('.markdown a').all()) {
      await link.hover();
      await link.focus();
    }
    const before = page.url();
    await page.locator('h1').hover();
    await page.keyboard.press('j');
    if (index + 1 < count) await page.waitForURL((url) => url.href !== before);
  }
  for (const address of [`/review/random?run=${run}`, ...more]) {
    await page.goto(base + address);
    await settled(page);
    await look();
  }
  await page.evaluate(() => globalThis.localStorage.removeItem('proctor.answers'));
  const [a, b] = programs;
  const screens = [
    '/problems/columns',
    `/scorecards/${a}`,
    `/scorecards?a=${a}&b=${b}`,
    `/runs/${run}`,
    `/review/random?run=${run}`,
    `/review`,
    `/compare?a=${run}`,
    '/',
    '/runs',
    '/history',
    '/leaderboard',
    ...more,
    `/compare?${query}`,
  ];
  for (const address of screens) {
    await page.goto(base + address);
    await settled(page);
    await page.evaluate(() => document.querySelectorAll('details').forEach((one) => (one.open = true)));
    await look();
  }
  for (let index = 0; index < count / 2; index += 1) await page.keyboard.press('n');
  await settled(page);
  await look();
  return seen;
}

/** Answers as Markdown on the three screens that show them: chosen with the keyboard alone, kept, and without barriers. */
export async function markdown({ page, base, run, ask }) {
  const found = [];
  await page.goto(`${base}/runs/${run}/samples`);
  const form = page.locator('.answer-form');
  await form.getByRole('button', { name: 'Text', exact: true }).focus();
  const asText = await page.locator('.sample-detail .foreign', { hasText: '# The' }).count();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.locator('.sample-detail .markdown').waitFor();
  const parts = await page.locator('.sample-detail .markdown').evaluate((shown) => ({
    text: shown.innerText,
    tags: [...new Set([...shown.querySelectorAll('*')].map((one) => one.tagName.toLowerCase()))],
    links: [...shown.querySelectorAll('a')].map((one) => [one.href, one.innerText, one.rel]),
  }));
  await page.reload();
  for (const address of [`/runs/${run}/samples`, `/review/random?run=${run}`, `/arena/${ask}`]) {
    await page.goto(base + address);
    await page.locator('.markdown strong').first().waitFor();
    found.push(...(await faults(page, `${address.split('/')[1]} as Markdown`)));
    await pictures(page, `markdown ${address.split('/')[1]}`);
  }
  await page.evaluate(() => globalThis.localStorage.removeItem('proctor.answers'));
  return { asText, parts, found };
}

/** A sentence becomes a plan that is changed by another and run; what has no data is said; a need names benchmarks. */
export async function words({ page, base }) {
  await page.goto(`${base}/plan`);
  await settled(page);
  const say = async (text, button) => {
    const answered = page.waitForResponse((response) => response.url().endsWith('/plans/draft'));
    await page.getByLabel('What shall be found out?').fill(text);
    await page.getByRole('button', { name: button, exact: true }).click();
    await answered;
    await settled(page);
  };
  const list = () => page.locator('.plain-list').first().innerText();
  await say('Korean maths with demo/strong, 20 questions', 'Draft');
  const gap = await page.getByRole('alert').first().innerText();
  await say('between 4 and 6 puzzles with demo/strong', 'Draft');
  const other = await list();
  await say('demo/strong on 6 puzzles, seed 3', 'Draft');
  const understood = await list();
  await say('only 4 questions, add demo/weak', 'Change the plan below');
  const changed = await list();
  await page.getByRole('button', { name: /^Run/ }).click();
  await page.waitForURL(/\/runs\/[a-z0-9]+$/);
  const run = page.url().split('/').at(-1);
  const status = async () => (await (await page.request.get(`${base}/api/v1/runs/${run}`)).json()).status;
  while ((await status()) !== 'completed') await page.waitForTimeout(100);
  await page.goto(`${base}/leaderboard?benchmark=puzzles`);
  const rows = page.locator(`.board tr:has(a[href*="${run}"])`);
  await rows.first().waitFor();
  const ranked = await rows.allInnerTexts();
  await page.goto(`${base}/benchmarks`);
  await settled(page);
  await page.getByLabel('What is it for?').fill('maths in German, short answers');
  await page.getByRole('button', { name: 'Recommend', exact: true }).click();
  await page.getByRole('link', { name: 'mgsm' }).first().waitFor();
  return { gap, other, understood, changed, run, ranked, fitting: await list() };
}

/** The same screen in each language. */
export async function languages({ page, base }) {
  await page.goto(`${base}/settings`);
  await settled(page);
  const titles = {};
  for (const language of ['de', 'ja', 'en']) {
    await page.locator('select').nth(1).selectOption(language);
    await page.waitForFunction((wanted) => document.documentElement.lang === wanted, language);
    titles[language] = await heading(page);
  }
  return titles;
}
