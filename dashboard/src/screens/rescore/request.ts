/** What is asked for, from what was typed: the words are those of `proctor rescore`. */
import type { RescoreRequest } from '@/api/documents';

export interface Choice {
  how: 'score' | 'use';
  /** One scorer a line: its name, or its name with options after a colon. */
  scorers: string;
  use: string;
  judge: string;
  on: string;
  isKept: boolean;
  cost: string;
  price: string;
}

export const FIRST_CHOICE: Choice = {
  how: 'score',
  scorers: '',
  use: '',
  judge: '',
  on: '',
  isKept: false,
  cost: '',
  price: '',
};

const lines = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** null while there is nothing to ask for. */
export function requestOf(choice: Choice): Partial<RescoreRequest> | null {
  const on = choice.on === '' ? {} : { on: choice.on };
  const use = lines(choice.use);
  if (choice.how === 'use') return use.length === 0 ? null : { use, ...on };
  const scorers = lines(choice.scorers);
  if (scorers.length === 0) return null;
  const judge = lines(choice.judge);
  return {
    scorers,
    ...on,
    ...(judge.length === 0 ? {} : { judge }),
    ...(choice.isKept ? { keep: true } : {}),
    ...(choice.cost === '' ? {} : { cost_usd: Number(choice.cost) }),
    ...(choice.price.trim() === '' ? {} : { assume_price: choice.price.trim() }),
  };
}
