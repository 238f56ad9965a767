import { expect, it } from 'vitest';
import type { Comparison } from '@/api/documents';
import { leaderOf, standingOf } from './Leader';

const pair = (a: string, b: string, better: string | null) =>
  ({ a: { name: a }, b: { name: b }, better }) as unknown as Comparison;

it('who is shown to be better than all others leads', () => {
  const all = [pair('x', 'y', 'x'), pair('x', 'z', 'x'), pair('y', 'z', null)];
  expect(leaderOf(all)).toBe('x');
  expect(standingOf(all)).toEqual({ ahead: ['x'], behind: ['y', 'z'] });
});

it('those that nobody is shown to be better than cannot be told apart', () => {
  const all = [pair('x', 'y', null), pair('x', 'z', 'x'), pair('y', 'z', null)];
  expect(leaderOf(all)).toBeNull();
  expect(standingOf(all)).toEqual({ ahead: ['x', 'y'], behind: ['z'] });
});

it('one that leads some and ties with none is no leader before it is shown to be better than each', () => {
  const all = [pair('x', 'y', 'x'), pair('x', 'z', null), pair('y', 'z', 'y')];
  expect(standingOf(all).ahead).toEqual(['x']);
  expect(leaderOf(all)).toBeNull();
});
