/** What the journeys share: when a screen is there, what is wrong with it, and pictures of it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const heading = (page) => page.locator('h1').innerText();

/** A screen is there when it has its heading, nothing is being loaded, and two frames were drawn since the last answer. */
export const settled = async (page) => {
  await page.locator('h1').first().waitFor();
  const drawn = () =>
    page.evaluate(
      () =>
        new Promise((done) =>
          requestAnimationFrame(() => requestAnimationFrame(() => done(document.querySelector('.skeleton') === null))),
        ),
    );
  const until = Date.now() + 60_000;
  while (!((await drawn()) && page.waitingFor().length === 0 && (await drawn()))) {
    if (Date.now() > until) throw new Error(`${page.url()} does not come to rest: ${page.waitingFor().join(' ')}`);
  }
};

/** What axe finds on a page as it is; themes differ in colours alone, so the second looks at these only. */
const barriers = async (page, name, rules) => {
  const { violations } = await page.evaluate(
    (only) => globalThis.axe.run(document, { resultTypes: ['violations'], ...(only ? { runOnly: only } : {}) }),
    rules,
  );
  return violations.map(({ id, help, nodes }) => {
    const places = nodes.map((node) => node.target.join(' ')).slice(0, 3);
    return `${name}: ${id}: ${help}: ${places.join(' | ')}`;
  });
};

/** Texts of charts that another text or a point stands on. */
const covered = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('main svg')].flatMap((svg) => {
      const marks = [...svg.querySelectorAll('text, circle')].filter((one) => one.getClientRects().length > 0);
      const boxes = marks.map((one) => [one, one.getBoundingClientRect()]);
      return boxes.flatMap(([one, a], index) =>
        boxes
          .slice(index + 1)
          .filter(([other]) => one.tagName === 'text' || other.tagName === 'text')
          .filter(([, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1)
          .filter(([, b]) => Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3)
          .map(([other]) => `${one.textContent} and ${other.textContent}`),
      );
    }),
  );

/** A screen in both themes: what axe finds, and whether it fits a narrow window. */
export const faults = async (page, name) => {
  const found = [];
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 1280, height: 860 });
  await settled(page);
  await page.evaluate(AXE);
  found.push(...(await barriers(page, `${name} light`, null)));
  found.push(...(await covered(page)).map((both) => `${name}: ${both} overlap`));
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  await page.locator('html[data-theme=dark]').waitFor();
  found.push(...(await barriers(page, `${name} dark`, ['color-contrast'])));
  await page.setViewportSize({ width: 360, height: 740 });
  await settled(page);
  found.push(...(await covered(page)).map((both) => `${name}: ${both} overlap in 360 px`));
  const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (excess > 0) {
    const wide = await page.evaluate(() =>
      [...document.querySelectorAll('main *')]
        .filter((one) => one.closest('.wide') === null && one.getBoundingClientRect().right > innerWidth)
        .map((one) => `${one.tagName}.${one.className}`),
    );
    found.push(`${name}: ${excess} px too wide for 360 px: ${wide.slice(0, 5).join(' ')}`);
  }
  return found;
};

/** For whoever looks at screens as they are: written where PICTURES says, at each width and in both themes. */
export const pictures = async (page, address) => {
  const folder = process.env.PICTURES;
  if (!folder) return;
  const name = address.replaceAll(/[^a-z0-9]+/gi, '-').replaceAll(/^-|-$/g, '') || 'home';
  for (const width of [1440, 1024, 390, 360])
    for (const theme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: width < 600 ? 800 : 900 });
      await settled(page);
      await page.screenshot({ path: `${folder}/${name.slice(0, 80)}-${width}-${theme}.png`, fullPage: true });
    }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 860 });
};
