import { expect, it } from 'vitest';
import { de } from './de';
import { en } from './en';
import { ja } from './ja';
import { loadLanguage, plural, t } from './text';

const names = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
const keys = Object.keys(en) as (keyof typeof en)[];

it.each([
  ['German', de],
  ['Japanese', ja],
])('%s has every text, with the same values to fill in', (_, texts) => {
  expect(Object.keys(texts)).toEqual(keys);
  for (const key of keys) {
    expect(texts[key].trim(), key).not.toBe('');
    expect(names(texts[key]), key).toEqual(names(en[key]));
  }
});

it('most texts differ from English: a copy is no translation', () => {
  const same = (texts: typeof en) => keys.filter((key) => texts[key] === en[key]).length / keys.length;
  expect(same(ja)).toBeLessThan(0.05);
  expect(same(de)).toBeLessThan(0.1);
});

it('values are filled in, and one is told from several', async () => {
  expect(t('compare.samples', { n: '1,319' })).toBe('n = 1,319');
  expect([plural('run.trials', 1), plural('run.trials', 2)]).toEqual(['1 trial', '2 trials']);
  await loadLanguage('de');
  expect(plural('run.trials', 2)).toBe('2 Versuche');
  await loadLanguage('en');
});
