import { expect, it } from 'vitest';
import type { EvaluationSummary, LeaderboardTable } from '@/api/documents';
import { metricTitle } from '@/screens/leaderboard/metricTitle';
import { caveatsOf } from './caveats';

const evaluation = (estimate: object, more: object = {}) =>
  ({
    trials: 40,
    stopped: 0,
    pending: 0,
    judges: {},
    is_forgeable: false,
    metrics: { accuracy: { value: 1, title: null, unmeasured: 0, unreadable: null, ...estimate } },
    ...more,
  }) as unknown as EvaluationSummary;

it('a score of half the trials says what it would be with the others as wrong', () => {
  const found = caveatsOf(evaluation({ unmeasured: 20, if_unmeasured_wrong: 0.5 }), 'accuracy');
  expect(found).toEqual(['20 have no mark: counted as wrong, accuracy would be 0.500, not 1.000.']);
  expect(caveatsOf(evaluation({ unmeasured: 1, if_unmeasured_wrong: 0.999 }, { trials: 1000 }), 'accuracy')).toEqual(
    [],
  );
});

it('one verdict that could not be read is said', () => {
  const unread = { unmeasured: 1, unreadable: 1, if_unmeasured_wrong: 0.999, if_unreadable_wrong: 0.999 };
  expect(caveatsOf(evaluation(unread, { trials: 1000 }), 'accuracy')).toHaveLength(1);
});

it('ties that the judge did not decide and marks that could be forged are said', () => {
  const judges = { judge_pairwise: { 'openai/j': { undecided: 60, verdicts: 60 } } };
  expect(caveatsOf(evaluation({ value: 0.5 }, { judges, is_forgeable: true }), 'accuracy')).toEqual([
    'openai/j did not decide 60 of 60 comparisons: they count as ties.',
    'Forgeable: these scores rest on evidence that the answer itself could have forged.',
  ]);
});

it('nothing is said where nothing is hidden', () => {
  expect(caveatsOf(evaluation({}), 'accuracy')).toEqual([]);
  expect(caveatsOf(evaluation({}), 'another')).toEqual([]);
  expect(caveatsOf(evaluation({}, { judges: undefined }), 'accuracy')).toEqual([]);
});

it('a table of partial scores does not call their mean accuracy', () => {
  const row = (title: string | null) => ({ estimate: { title } });
  const table = (titles: (string | null)[]) =>
    ({ metric: 'accuracy', rows: titles.map(row) }) as unknown as LeaderboardTable;
  expect(metricTitle(table([null, 'mean score']))).toBe('mean score');
  expect(metricTitle(table([null, null]))).toBe('accuracy');
});
