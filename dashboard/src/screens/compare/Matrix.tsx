/** Every pair that was compared together: one verdict a row; p-values are corrected for all of them. */
import { useState } from 'react';
import type { Comparison } from '@/api/documents';
import { Axis, IntervalCell } from '@/charts/IntervalCell';
import { scaleOf, tickText, type Scale } from '@/charts/scale';
import { Button, Section, Wide } from '@/components/Basics';
import { Dash } from '@/components/Figures';
import { pointsText, pText } from '@/numbers/rounding';
import { countText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { withParameters } from '@/router/location';
import { t } from '@/text/text';

/** Of more pairs the clearest are shown first, and all of them when they are asked for. */
const AT_ONCE = 40;

function clearest(comparisons: readonly Comparison[], at: number): readonly number[] {
  const p = (index: number) => comparisons[index]?.p_adjusted ?? 1;
  const order = comparisons.map((_, index) => index).sort((one, other) => p(one) - p(other) || one - other);
  return [at, ...order.filter((index) => index !== at)].slice(0, AT_ONCE);
}

export function Matrix({ comparisons, at }: { comparisons: readonly Comparison[]; at: number }) {
  const [isWhole, setWhole] = useState(comparisons.length <= AT_ONCE);
  const shown = isWhole ? comparisons.map((_, index) => index) : clearest(comparisons, at);
  const hasBenchmarks = new Set(comparisons.map((one) => one.benchmark)).size > 1;
  const ends = comparisons.flatMap((one) => one.difference.ci95 ?? []);
  const scale = scaleOf([...ends, 0], { wanted: 4 });
  return (
    <Section
      title={t('compare.pairs')}
      note={t('compare.pairs.note', { n: countText(comparisons[0]?.family ?? comparisons.length) })}
    >
      <Wide label={t('compare.pairs')}>
        <table className="pairs">
          <thead>
            <tr>
              <th>{t('compare.pair')}</th>
              {hasBenchmarks && <th>{t('word.benchmark')}</th>}
              <th>{t('compare.difference')}</th>
              <th className="number">{t('compare.points')}</th>
              <th className="number">p</th>
              <th className="number">n</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((index) => {
              const one = comparisons[index];
              return (
                one && (
                  <Pair key={index} comparison={one} index={index} isAt={index === at} {...{ scale, hasBenchmarks }} />
                )
              );
            })}
            <tr aria-hidden="true">
              <td className="axis" colSpan={hasBenchmarks ? 2 : 1} />
              <td className="axis">
                <Axis scale={scale} form={pointsOf} />
              </td>
              <td className="axis" colSpan={3} />
            </tr>
          </tbody>
        </table>
      </Wide>
      {!isWhole && (
        <p className="list-more">
          <span className="muted small">
            {t('compare.clearest', { shown: shown.length, n: countText(comparisons.length) })}
          </span>{' '}
          <Button onClick={() => setWhole(true)}>{t('action.more')}</Button>
        </p>
      )}
    </Section>
  );
}

const pointsOf = (difference: number) => tickText(100 * difference);

interface PairProps {
  comparison: Comparison;
  index: number;
  isAt: boolean;
  scale: Scale;
  hasBenchmarks: boolean;
}

function Pair({ comparison, index, isAt, scale, hasBenchmarks }: PairProps) {
  const { a, b, better, difference, p_adjusted: p } = comparison;
  return (
    <tr aria-current={isAt ? 'true' : undefined}>
      <td>
        <Link to={withParameters({ pair: String(index), at: null })}>
          {a.name} → {b.name}
        </Link>
      </td>
      {hasBenchmarks && <td>{comparison.benchmark}</td>}
      <td className="interval-cell">
        <IntervalCell
          estimate={difference}
          scale={scale}
          line={0}
          {...(better === null ? {} : { series: better === a.name ? 0 : 1 })}
        />
      </td>
      <td className="number">
        {difference.value === null ? (
          <Dash reason={t('reason.not-measured')} />
        ) : (
          <span title={String(difference.value)}>{pointsText(difference.value).replace('-', '−')}</span>
        )}
      </td>
      <td className="number">{p === null ? <Dash reason={t('reason.not-measured')} /> : pText(p)}</td>
      <td className="number">{countText(comparison.n)}</td>
    </tr>
  );
}
