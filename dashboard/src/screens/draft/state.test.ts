import { expect, it } from 'vitest';
import type { DraftedSample } from '@/api/documents';
import { accepted, begin, keep, NEW_SETTINGS, nextPassages, readKept, withReview } from './state';

const sample = (number: number, verdict: DraftedSample['verdict'] = 'accepted') =>
  ({ id: `s${number}`, passage_number: number, verdict, review: null, question: `${number}?` }) as DraftedSample;
const draft = { ...begin('a.md', ['a', 'b', 'c', 'd', 'e'], { ...NEW_SETTINGS, count: '3' }) };

it('passages are taken in order, until so many samples are accepted', () => {
  expect(nextPassages(draft, new Set())).toEqual([0, 1]);
  const some = { ...draft, samples: [sample(0), sample(1, 'refused')] };
  expect(nextPassages(some, new Set([2]))).toEqual([3, 4]);
  const enough = { ...draft, samples: [sample(0), sample(1), sample(2)] };
  expect(nextPassages(enough, new Set())).toEqual([]);
});

it('what was drafted and decided is there again after a reload', () => {
  const decided = withReview({ ...draft, samples: [sample(0), sample(1, 'refused')] }, 's0', 'dropped');
  expect(keep(decided)).toBe(true);
  expect(readKept()).toEqual(decided);
  expect(accepted(decided).map((one) => one.review)).toEqual(['dropped']);
  keep(null);
  expect(readKept()).toBeNull();
});
