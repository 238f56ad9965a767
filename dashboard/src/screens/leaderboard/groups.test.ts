import { expect, it } from 'vitest';
import type { LeaderboardTable } from '@/api/documents';
import { byEvidence } from './groups';

const table = (benchmark: string, ...counts: number[]) =>
  ({ benchmark, rows: counts.map((n) => ({ estimate: { n } })) }) as unknown as LeaderboardTable;

it('the table that rests on most answers is first, and equal ones stay in order', () => {
  const tables = [table('a', 10), table('b', 200, 200), table('c', 390), table('d', 400)];
  expect(byEvidence(tables).map((one) => one.benchmark)).toEqual(['b', 'd', 'c', 'a']);
});
