import { expect, it } from 'vitest';
import type { Comparison } from '@/api/documents';
import { leaderOf, nearestTo, standingOf } from './Leader';

const pair = (a: string, b: string, better: string | null, value: number | null = null) =>
  ({ a: { name: a }, b: { name: b }, better, difference: { value } }) as unknown as Comparison;

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

it('the nearest to the leader is the one with the smallest difference, whichever side is named first', () => {
  const all = [pair('x', 'y', 'x', 0.3), pair('z', 'x', 'x', -0.1), pair('y', 'z', null, 0.01)];
  expect(nearestTo('x', all)).toBe(all[1]);
  expect(nearestTo('nobody', all)).toBeNull();
});
