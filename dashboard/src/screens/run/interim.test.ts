import { expect, it } from 'vitest';
import type { InterimPair, InterimResults, RunDocument } from '@/api/documents';
import { interimSentence, isDecided } from './interimSentence';
import { expectedCost } from './Money';

const pair = (a: string, b: string, n: number, interval: [number, number]): InterimPair => ({
  benchmark: 'puzzles',
  a,
  b,
  n,
  value: n === 0 ? null : (interval[0] + interval[1]) / 2,
  interval,
  is_decided: interval[0] > 0 || interval[1] < 0,
});
const results = (pairs: readonly InterimPair[]) => ({ pairs, evaluations: [] }) as unknown as InterimResults;

it('nobody is better than all others while one of them has no answers', () => {
  const begun = [pair('x', 'y', 40, [-0.4, -0.1]), pair('x', 'z', 40, [-0.5, -0.2]), pair('y', 'z', 40, [-0.2, 0.2])];
  expect(interimSentence(results(begun))).toBe('x is better than all 2 others.');
  const late = ['x', 'y', 'z'].map((name) => pair(name, 'late', 0, [-1, 1]));
  const all = results([...begun, ...late]);
  expect(interimSentence(all)).toBe('2 of 6 pairs are decided.');
  expect(isDecided(all)).toBe(false);
});

it('a pair is told with its leader first', () => {
  const said = interimSentence(results([pair('x', 'y', 40, [0.1, 0.3])]));
  expect(said).toBe('y is better than x by 20.0 points, between 10.0 and 30.0.');
  expect(interimSentence(results([pair('x', 'y', 0, [-1, 1])]))).toBeNull();
});

it('what a run will cost counts its judges as often as they will be asked', () => {
  const evaluation = { trials: 100, pending: 50, stopped: 0, cost_usd: 1 };
  const run = (judges: number | null) =>
    ({ evaluations: [evaluation, evaluation], totals: { judges_cost_usd: judges } }) as unknown as RunDocument;
  expect(expectedCost(run(null))).toBe(4);
  expect(expectedCost(run(3))).toBe(10);
});
