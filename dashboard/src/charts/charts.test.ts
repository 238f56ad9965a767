import { expect, it } from 'vitest';
import type { Comparison, LeaderboardTable } from '@/api/documents';
import { groupsOf, leadersOf } from '@/screens/leaderboard/groups';
import { csvCell } from './files';
import { frontierOf } from './Frontier';
import { quadrants } from './Mosaic';
import { place, scaleOf } from './scale';

const comparison = (test: string, a: number, b: number) =>
  ({
    test,
    n: 30,
    a: { score: { value: a } },
    b: { score: { value: b } },
    flips: { gained: { count: 1 }, lost: { count: 7 } },
  }) as unknown as Comparison;

it('the four areas of the mosaic add up to the samples', () => {
  expect(quadrants(comparison('exact McNemar', 1 - 1 / 30, 23 / 30))).toEqual({
    both: 22,
    onlyA: 7,
    onlyB: 1,
    neither: 0,
  });
});

it('areas are not drawn where marks are more than right or wrong, or do not add up', () => {
  expect(quadrants(comparison('paired permutation', 0.9, 0.7))).toBeNull();
  expect(quadrants(comparison('exact McNemar', 0.5, 0.9))).toBeNull();
});

it('a scale has round ticks and holds every value', () => {
  const scale = scaleOf([0.743, 0.965], { clamp: [0, 1] });
  expect(scale.ticks).toEqual([0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1]);
  expect(place(scale, 0.85)).toBeCloseTo(50);
  expect(scaleOf([]).ticks.length).toBeGreaterThan(1);
});

it('models whose ranks overlap are one group', () => {
  const rows = [
    [1, 2],
    [1, 2],
    [3, 3],
  ].map(([best_rank, worst_rank]) => ({ best_rank, worst_rank }));
  const table = { rows } as unknown as LeaderboardTable;
  expect(groupsOf(table)).toEqual([0, 0, 1]);
  expect(leadersOf(table)).toHaveLength(2);
});

it('the frontier leaves out what something cheaper beats', () => {
  const point = (name: string, cost: number, score: number) => ({ name, cost, score });
  const found = frontierOf([point('dear', 3, 0.8), point('cheap', 1, 0.7), point('best', 2, 0.9)]);
  expect(found.map((one) => one.name)).toEqual(['cheap', 'best']);
});

it('a cell that a spreadsheet would run gets an apostrophe, a negative number does not', () => {
  expect(['=1+1', '-0.5', '@x', 'a,b'].map(csvCell)).toEqual(["'=1+1", '-0.5', "'@x", '"a,b"']);
});
