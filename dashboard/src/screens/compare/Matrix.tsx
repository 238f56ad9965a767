/** Every pair that was compared together: one verdict a row; p-values are corrected for all of them. */
import type { Comparison } from '@/api/documents';
import { Axis, IntervalCell } from '@/charts/IntervalCell';
import { scaleOf } from '@/charts/scale';
import { Section, Wide } from '@/components/Basics';
import { differenceText, pText } from '@/numbers/rounding';
import { countText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { withParameters } from '@/router/location';
import { t } from '@/text/text';

export function Matrix({ comparisons, at }: { comparisons: readonly Comparison[]; at: number }) {
  const ends = comparisons.flatMap((one) => one.difference.ci95 ?? []);
  const scale = scaleOf([...ends, 0], { wanted: 4 });
  return (
    <Section
      title={t('compare.pairs')}
      note={t('compare.pairs.note', { n: comparisons[0]?.family ?? comparisons.length })}
    >
      <Wide isGrid label={t('compare.pairs')}>
        <table className="pairs">
          <thead>
            <tr>
              <th>{t('compare.pair')}</th>
              <th>{t('word.benchmark')}</th>
              <th>{t('compare.difference')}</th>
              <th className="number">{t('compare.difference')}</th>
              <th className="number">p</th>
              <th className="number">n</th>
            </tr>
          </thead>
          <tbody>
            {comparisons.map((one, index) => (
              <tr key={index} aria-current={index === at ? 'true' : undefined}>
                <td>
                  <Link to={withParameters({ pair: String(index), at: null })}>
                    {one.a.name} → {one.b.name}
                  </Link>
                </td>
                <td>{one.benchmark}</td>
                <td className="interval-cell">
                  <IntervalCell
                    estimate={one.difference}
                    scale={scale}
                    line={0}
                    {...(one.better === null ? {} : { series: one.better === one.a.name ? 0 : 1 })}
                  />
                </td>
                <td className="number">{one.difference.value === null ? '' : differenceText(one.difference.value)}</td>
                <td className="number">{one.p_adjusted === null ? '' : pText(one.p_adjusted)}</td>
                <td className="number">{countText(one.n)}</td>
              </tr>
            ))}
            <tr aria-hidden="true">
              <td className="axis" colSpan={2} />
              <td className="axis">
                <Axis scale={scale} />
              </td>
              <td className="axis" colSpan={3} />
            </tr>
          </tbody>
        </table>
      </Wide>
    </Section>
  );
}
