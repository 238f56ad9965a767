/** The two sides by category, from each run's own figures; what changed hands is counted beside them. */
import type { Comparison, EvaluationSummary, FlippedSample } from '@/api/documents';
import { useRun } from '@/api/queries';
import { Axis, IntervalCell } from '@/charts/IntervalCell';
import { scaleOf } from '@/charts/scale';
import { Section, Wide } from '@/components/Basics';
import { Dash, Estimate } from '@/components/Figures';
import { countText } from '@/numbers/text';
import { t } from '@/text/text';
import { samplesLink } from '@/screens/samples/link';

const AT_ONCE = 40;

export function Categories({ comparison }: { comparison: Comparison }) {
  const runA = useRun(comparison.a.run_id);
  const runB = useRun(comparison.b.run_id);
  const a = evaluationOf(runA.data?.evaluations, comparison, 'a');
  const b = evaluationOf(runB.data?.evaluations, comparison, 'b');
  const names = Object.keys(a?.categories ?? {}).filter((name) => b?.categories[name] !== undefined);
  if (!a || !b || names.length < 2) return null;
  const estimate = (evaluation: EvaluationSummary, name: string) => evaluation.categories[name]?.[comparison.metric];
  const ends = names.flatMap((name) => [estimate(a, name)?.ci95 ?? [], estimate(b, name)?.ci95 ?? []].flat());
  const scale = scaleOf(ends, { clamp: [0, 1], wanted: 4 });
  const lost = countsOf(comparison.flips.lost);
  const gained = countsOf(comparison.flips.gained);
  const changed = (name: string) => (gained?.get(name) ?? 0) + (lost?.get(name) ?? 0);
  const shown = [...names].sort((one, other) => changed(other) - changed(one)).slice(0, AT_ONCE);
  return (
    <Section
      title={t('compare.by-category')}
      note={
        names.length > shown.length
          ? t('list.first', { shown: shown.length, n: countText(names.length) })
          : t('compare.by-category.note')
      }
    >
      <Wide label={t('compare.by-category')}>
        <table className="categories">
          <thead>
            <tr>
              <th>{t('word.category')}</th>
              <th>{comparison.a.score.title ?? comparison.metric}</th>
              <th className="number">{comparison.a.name}</th>
              <th className="number">{comparison.b.name}</th>
              <th className="number">{t('compare.gained')}</th>
              <th className="number">{t('compare.lost')}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((name) => (
              <tr key={name}>
                <td>
                  <bdi>{name}</bdi>
                </td>
                <td className="interval-cell double">
                  {[a, b].map((evaluation, index) => {
                    const found = estimate(evaluation, name);
                    return found ? <IntervalCell key={index} estimate={found} scale={scale} series={index} /> : null;
                  })}
                </td>
                {[a, b].map((evaluation, index) => (
                  <td key={index} className="number">
                    <Estimate
                      estimate={estimate(evaluation, name)}
                      to={samplesLink(index === 0 ? comparison.a.run_id : comparison.b.run_id, {
                        model: evaluation.model,
                        benchmark: comparison.benchmark,
                        category: name,
                      })}
                    />
                  </td>
                ))}
                {[gained, lost].map((counts, index) => (
                  <td key={index} className="number">
                    {counts ? countText(counts.get(name) ?? 0) : <Dash reason={t('reason.not-all-flips')} />}
                  </td>
                ))}
              </tr>
            ))}
            <tr aria-hidden="true">
              <td className="axis" />
              <td className="axis">
                <Axis scale={scale} />
              </td>
              <td className="axis" colSpan={4} />
            </tr>
          </tbody>
        </table>
      </Wide>
    </Section>
  );
}

function evaluationOf(evaluations: readonly EvaluationSummary[] | undefined, comparison: Comparison, which: 'a' | 'b') {
  const side = comparison[which];
  return evaluations?.find(
    (one) => one.benchmark === comparison.benchmark && one.model === side.model && one.side === side.side,
  );
}

/** Flips by category; null where not all of them were sent, because then a count would be too low. */
function countsOf(flips: { count: number; samples: readonly FlippedSample[] }): Map<string, number> | null {
  if (flips.samples.length < flips.count) return null;
  const counts = new Map<string, number>();
  for (const { category } of flips.samples)
    if (category !== null) counts.set(category, (counts.get(category) ?? 0) + 1);
  return counts;
}
