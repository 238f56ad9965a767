import { expect, it } from 'vitest';
import { match, path, withParameters } from './location';

it('a name with any characters survives the way into an address and back', () => {
  const name = 'a/b?c=%2e&d é';
  expect(match('/runs/:run', path`/runs/${name}`)).toEqual({ run: name });
});

it('a path that is not of the pattern is none', () => {
  expect(match('/runs/:run', '/runs')).toBeNull();
  expect(match('/runs/:run', '/runs/%E0%A4')).toBeNull();
});

it('parameters that are changed leave the others', () => {
  expect(withParameters({ at: 'x', text: null }, '?text=a&model=m')).toMatch(/\?model=m&at=x$/);
});
