/** What a run's comparisons come to in a sentence: the verdict on two models, or who is shown to be better than all others. */
import type { Comparison } from '@/api/documents';
import { t } from '@/text/text';
import { Verdict } from './Verdict';

/** The side that every comparison it is in shows to be the better one; null where there is none. */
export function leaderOf(comparisons: readonly Comparison[]): string | null {
  const names = new Set(comparisons.flatMap(({ a, b }) => [a.name, b.name]));
  const isAhead = (name: string) =>
    comparisons.every(({ a, b, better }) => (a.name !== name && b.name !== name) || better === name);
  return [...names].find(isAhead) ?? null;
}

export function Leader({ comparisons }: { comparisons: readonly Comparison[] }) {
  const [first, second] = comparisons;
  if (!first) return null;
  if (!second) return <Verdict comparison={first} />;
  const onFirst = comparisons.filter((one) => one.benchmark === first.benchmark);
  const leader = leaderOf(onFirst);
  const others = new Set(onFirst.flatMap(({ a, b }) => [a.name, b.name])).size - 1;
  if (leader === null) return <>{t('leader.none', { benchmark: first.benchmark })}</>;
  return <>{t('leader.one', { model: leader, n: others, benchmark: first.benchmark })}</>;
}
