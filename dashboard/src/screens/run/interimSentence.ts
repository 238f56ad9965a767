/** What a run's interim results come to in a sentence. */
import type { InterimPair, InterimResults } from '@/api/documents';
import { decimalText, pointsText } from '@/numbers/rounding';
import { t } from '@/text/text';

/** Every pair is decided: whatever is still asked would only narrow the intervals. */
export const isDecided = ({ pairs }: InterimResults) => pairs.length > 0 && pairs.every((pair) => pair.is_decided);

/** The pair with its leader first; one that is level stays as it is. */
function led({ a, b, value, interval }: InterimPair): { leader: string; other: string; points: string; range: string } {
  const [low, high] = interval as [number, number];
  const isB = (value ?? 0) >= 0;
  const [from, to] = isB ? [low, high] : [-high, -low];
  const bare = (points: string) => points.replace('+', '').replace('-', '−');
  return {
    leader: isB ? b : a,
    other: isB ? a : b,
    points: bare(pointsText(Math.abs(value ?? 0))),
    range: t('run.range', { low: bare(pointsText(from)), high: bare(pointsText(to)) }),
  };
}

/** Null while there is nothing to say. */
export function interimSentence({ pairs, evaluations }: InterimResults): string | null {
  const [pair] = pairs;
  const isBegun = pairs.some(({ n }) => n > 0);
  if (isBegun && pairs.length === 1 && pair) {
    const said = led(pair);
    if (pair.is_decided) return t('run.decided', said);
    return t(said.points === '0.0' ? 'run.level' : 'run.undecided', said);
  }
  if (isBegun) {
    // A pair without answers counts: who is better than all others is not known before.
    const best = bestOf(pairs);
    if (best !== null) return t('run.decided-best', best);
    return t('run.decided-pairs', { done: pairs.filter((one) => one.is_decided).length, n: pairs.length });
  }
  const last = evaluations.length === 1 ? evaluations[0]?.points.at(-1) : undefined;
  if (!last || last.value === null) return null;
  const [low, high] = last.interval as [number, number];
  return t('run.one-so-far', {
    model: evaluations[0]?.side ?? '',
    value: decimalText(last.value),
    range: t('run.range', { low: decimalText(low), high: decimalText(high) }),
  });
}

/** Who is shown to be better than every other, on one benchmark. */
function bestOf(pairs: readonly InterimPair[]): { model: string; n: number } | null {
  if (new Set(pairs.map(({ benchmark }) => benchmark)).size > 1) return null;
  const names = [...new Set(pairs.flatMap(({ a, b }) => [a, b]))];
  const better = (pair: InterimPair) => (pair.is_decided ? led(pair).leader : null);
  const best = names.find((name) =>
    pairs.filter(({ a, b }) => a === name || b === name).every((pair) => better(pair) === name),
  );
  return best === undefined ? null : { model: best, n: names.length - 1 };
}
