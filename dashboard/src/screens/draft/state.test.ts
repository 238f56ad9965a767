import { expect, it } from 'vitest';
import type { DraftedSample } from '@/api/documents';
import { accepted, begin, keep, NEW_SETTINGS, nextPassages, ownerOf, readKept, withReview } from './state';

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
  expect(keep(decided, 'local')).toBe(true);
  expect(readKept('local')).toEqual(decided);
  expect(accepted(decided).map((one) => one.review)).toEqual(['dropped']);
  keep(null, 'local');
  expect(readKept('local')).toBeNull();
});

it('a draft is shown to whom it is of, in its project', () => {
  const owner = ownerOf({ user: 'ada', project: 'acme' });
  keep(draft, owner);
  expect(readKept(owner)).toEqual(draft);
  for (const other of [{ user: 'bob', project: 'acme' }, { user: 'ada', project: 'other' }, null])
    expect(readKept(ownerOf(other))).toBeNull();
});
