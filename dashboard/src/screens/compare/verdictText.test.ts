import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { loadLanguage } from '@/text/text';
import { verdictText, type HasVerdict } from './verdictText';

/** Verdicts of drawn comparisons, as the API says them; written by tests/dashboard/test_units.py. */
const file = process.env['PROCTOR_VERDICTS'];
const drawn = JSON.parse(file === undefined ? '[]' : readFileSync(file, 'utf8')) as readonly HasVerdict[];

afterEach(() => loadLanguage('en'));

describe.skipIf(file === undefined)('the verdict of a comparison', () => {
  it('is the sentence of the API, word for word, in English', () => {
    for (const one of drawn) expect(verdictText(one)).toBe(one.verdict);
  });

  it.each(['ja', 'de'] as const)('is said in another language with the same name and figures: %s', async (language) => {
    await loadLanguage(language);
    for (const one of drawn) {
      const said = verdictText(one);
      expect(said).not.toBe(one.verdict);
      expect(said).not.toMatch(/shown|better by|answered|\{(?!points\} A)/);
      const { values, corrected_for: family } = one.verdict_parts;
      for (const value of [...Object.values(values), ...(family === null ? [] : [String(family)])])
        expect(said).toContain(value);
    }
  });
});

it('a verdict of a name that has no words is said in the sentence of the API', () => {
  const parts = { code: 'later', values: {}, corrected_for: null } as unknown as HasVerdict['verdict_parts'];
  expect(verdictText({ verdict: 'said later', verdict_parts: parts })).toBe('said later');
});
