import { expect, it } from 'vitest';
import { FIRST_CHOICE, requestOf } from './request';

it('nothing is asked for before a scorer is named', () => {
  expect(requestOf(FIRST_CHOICE)).toBeNull();
  expect(requestOf({ ...FIRST_CHOICE, how: 'use', scorers: 'exact' })).toBeNull();
});

it('a scorer a line, options and all, and judges only where they are named', () => {
  const scorers = ' exact:ignore_case=true \n\njudge_rubric:{"criteria": "Is it polite?"}\n';
  expect(requestOf({ ...FIRST_CHOICE, scorers, judge: 'openai/a\nopenai/b', cost: '0.5', isKept: true })).toEqual({
    scorers: ['exact:ignore_case=true', 'judge_rubric:{"criteria": "Is it polite?"}'],
    judge: ['openai/a', 'openai/b'],
    cost_usd: 0.5,
    keep: true,
  });
});

it('stored scores are put in force without scoring anything', () => {
  expect(requestOf({ ...FIRST_CHOICE, how: 'use', use: 'exact@2', scorers: 'f1', on: 'puzzles' })).toEqual({
    use: ['exact@2'],
    on: 'puzzles',
  });
});
