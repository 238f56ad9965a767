/** The filters of a run's results: each has its parameter in the address, and what the API is asked for. */
import type { Query } from '@/api/http';

export const FILTERS = [
  'model',
  'benchmark',
  'category',
  'outcome',
  'text',
  'mark',
  'prompt',
  'answer',
  'reason',
  'error',
  'latency',
  'cost',
  'tokens',
  'disputed',
] as const;
export type FilterName = (typeof FILTERS)[number];

const MARKS: Readonly<Record<string, Query>> = {
  full: { score_from: 1 },
  below: { wrong: 'true' },
  zero: { score_to: 0 },
};

/** What can be asked for; a part of the address that is no number is left out rather than refused. */
export function queryOf(parameters: URLSearchParams, isFolded: boolean): Query {
  const text = (name: FilterName) => parameters.get(name);
  const number = (name: FilterName) => {
    const given = Number(parameters.get(name) ?? '');
    return given > 0 && Number.isFinite(given) ? given : null;
  };
  const tokens = number('tokens');
  return {
    model: text('model'),
    benchmark: text('benchmark'),
    category: text('category'),
    outcome: text('outcome'),
    text: text('text'),
    prompt: text('prompt'),
    answer: text('answer'),
    reason: text('reason'),
    error: text('error'),
    latency_from: number('latency'),
    cost_from: number('cost'),
    tokens_from: tokens === null ? null : Math.ceil(tokens),
    disputed: text('disputed') === '1' ? 'true' : null,
    epoch: isFolded ? 0 : null,
    ...MARKS[text('mark') ?? ''],
  };
}

export const isFiltered = (parameters: URLSearchParams) => FILTERS.some((name) => parameters.get(name));
