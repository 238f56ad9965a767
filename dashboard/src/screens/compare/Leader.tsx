/** What a run's comparisons come to in a sentence: the verdict on two models, who is better than all others, or who cannot be told apart. */
import type { Comparison } from '@/api/documents';
import { t, useLanguage } from '@/text/text';
import { Verdict } from './Verdict';

export interface Standing {
  /** No comparison shows another to be better than one of these. */
  ahead: readonly string[];
  /** Each of these is shown to be worse than some other. */
  behind: readonly string[];
}

export function standingOf(comparisons: readonly Comparison[]): Standing {
  const names = [...new Set(comparisons.flatMap(({ a, b }) => [a.name, b.name]))];
  const isBehind = (name: string) =>
    comparisons.some(({ a, b, better }) => better !== null && better !== name && [a.name, b.name].includes(name));
  return { ahead: names.filter((name) => !isBehind(name)), behind: names.filter(isBehind) };
}

/** The side that every comparison it is in shows to be the better one; null where there is none. */
export function leaderOf(comparisons: readonly Comparison[]): string | null {
  const [first, ...tied] = standingOf(comparisons).ahead;
  const isAhead = (name: string) =>
    comparisons.every(({ a, b, better }) => (a.name !== name && b.name !== name) || better === name);
  return first !== undefined && tied.length === 0 && isAhead(first) ? first : null;
}

/** Of a leader's comparisons the one with the smallest difference: it is how far ahead of all others he is. */
export function nearestTo(leader: string, comparisons: readonly Comparison[]): Comparison | null {
  const gap = (one: Comparison) => Math.abs(one.difference.value ?? Infinity);
  const his = comparisons.filter(({ a, b }) => a.name === leader || b.name === leader);
  return his.sort((one, other) => gap(one) - gap(other))[0] ?? null;
}

/** More names than these are counted. */
const MAX_NAMES = 5;

export function Leader({ comparisons }: { comparisons: readonly Comparison[] }) {
  const language = useLanguage();
  const [first] = comparisons;
  if (!first) return null;
  const { benchmark } = first;
  const onFirst = comparisons.filter((one) => one.benchmark === benchmark);
  if (onFirst.length === 1) return <Verdict comparison={first} />;
  const leader = leaderOf(onFirst);
  const { ahead, behind } = standingOf(onFirst);
  if (leader !== null) return <>{t('leader.one', { model: leader, n: behind.length, benchmark })}</>;
  if (ahead.length < 2) return <>{t('leader.none', { benchmark })}</>;
  const listed = (names: readonly string[]) =>
    names.length > MAX_NAMES
      ? t('leader.models', { n: names.length })
      : new Intl.ListFormat(language, { type: 'conjunction' }).format(names);
  if (behind.length === 0) return <>{t('leader.tied', { models: listed(ahead), benchmark })}</>;
  return <>{t('leader.tied-ahead', { models: listed(ahead), others: listed(behind), benchmark })}</>;
}
