/** Each model on each benchmark: its score with interval, and what became of its trials. */
import type { EvaluationSummary, RunDocument } from '@/api/documents';
import { isGoing } from '@/api/queries';
import { Chart } from '@/charts/Chart';
import { Axis, IntervalCell } from '@/charts/IntervalCell';
import { Outcomes } from '@/charts/Outcomes';
import { scaleOf } from '@/charts/scale';
import { Section, SideName, Wide } from '@/components/Basics';
import { Cost, Estimate, Seconds } from '@/components/Figures';
import { samplesLink } from '@/screens/samples/link';
import { t } from '@/text/text';
import { caveatsOf } from './caveats';

export function Evaluations({ run }: { run: RunDocument }) {
  const benchmarks = [...new Set(run.evaluations.map((one) => one.benchmark))];
  return benchmarks.map((benchmark) => (
    <Benchmark
      key={benchmark}
      run={run}
      benchmark={benchmark}
      evaluations={run.evaluations.filter((one) => one.benchmark === benchmark)}
    />
  ));
}

interface BenchmarkProps {
  run: RunDocument;
  benchmark: string;
  evaluations: readonly EvaluationSummary[];
}

function Benchmark({ run, benchmark, evaluations }: BenchmarkProps) {
  const metrics = [...new Set(evaluations.flatMap((one) => Object.keys(one.metrics)))];
  return metrics.map((metric) => {
    const ends = evaluations.flatMap((one) => one.metrics[metric]?.ci95 ?? []);
    const scale = scaleOf(ends, { clamp: [Math.min(0, ...ends), Math.max(1, ...ends)], wanted: 5 });
    const isFirst = metric === metrics[0];
    const csv = [
      ['model', metric, 'low', 'high', 'n'],
      ...evaluations.map((one) => {
        const found = one.metrics[metric];
        return [one.side, found?.value ?? null, ...(found?.ci95 ?? [null, null]), found?.n ?? null];
      }),
    ];
    const title = evaluations[0]?.metrics[metric]?.title ?? metric;
    return (
      <Section
        key={metric}
        title={`${benchmark} · ${title}`}
        note={t(isGoing(run) ? 'run.interval-so-far' : 'compare.interval-note')}
      >
        <Chart title={`${benchmark} ${title}`} table={csv}>
          <Wide label={`${benchmark} ${title}`}>
            <table className="evaluations">
              <thead>
                <tr>
                  <th>{t('word.model')}</th>
                  <th>{t('compare.interval')}</th>
                  <th className="number">{title}</th>
                  {isFirst && (
                    <>
                      <th className="outcome-column">{t('run.outcomes')}</th>
                      <th className="number">{t('runs.cost')}</th>
                      <th className="number">p50</th>
                      <th className="number">p95</th>
                    </>
                  )}
                </tr>
              </thead>
              <tbody>
                {ordered(run, evaluations, metric).map(([one, index]) => (
                  <Row
                    key={one.side}
                    run={run}
                    evaluation={one}
                    metric={metric}
                    index={index}
                    scale={scale}
                    isFirst={isFirst}
                  />
                ))}
                <tr aria-hidden="true">
                  <td className="axis" />
                  <td className="axis">
                    <Axis scale={scale} />
                  </td>
                  <td className="axis" colSpan={isFirst ? 5 : 1} />
                </tr>
              </tbody>
            </table>
          </Wide>
        </Chart>
      </Section>
    );
  });
}

/** While they grow, scores stay where they are; when the run has ended, the highest comes first. */
function ordered(run: RunDocument, evaluations: readonly EvaluationSummary[], metric: string) {
  const all = evaluations.map((one, index) => [one, index] as const);
  const value = (one: EvaluationSummary) => one.metrics[metric]?.value ?? -Infinity;
  return isGoing(run) ? all : all.sort(([one], [other]) => value(other) - value(one) || 0);
}

interface RowProps {
  run: RunDocument;
  evaluation: EvaluationSummary;
  metric: string;
  index: number;
  scale: ReturnType<typeof scaleOf>;
  isFirst: boolean;
}

function Row({ run, evaluation, metric, index, scale, isFirst }: RowProps) {
  const found = evaluation.metrics[metric];
  const link = (outcome: string | null = null) =>
    samplesLink(run.run_id, { model: evaluation.side, benchmark: evaluation.benchmark, outcome });
  return (
    <tr>
      <td>
        <SideName index={index} name={evaluation.side} />
        {(isFirst ? caveatsOf(evaluation, metric) : []).map((caveat) => (
          <p key={caveat} className="muted small">
            {caveat}
          </p>
        ))}
      </td>
      <td className="interval-cell">{found && <IntervalCell estimate={found} scale={scale} series={index} />}</td>
      <td className="number">
        <Estimate
          estimate={found}
          to={link()}
          reason={evaluation.pending === evaluation.trials ? t('reason.queued') : t('reason.not-measured')}
        />
      </td>
      {isFirst && (
        <>
          <td className="outcome-column">
            <Outcomes evaluation={evaluation} link={link} />
          </td>
          <td className="number">
            <Cost usd={evaluation.cost_usd} basis={evaluation.cost_basis} />
          </td>
          <td className="number">
            <Seconds value={evaluation.latency_seconds.p50} />
          </td>
          <td className="number">
            <Seconds value={evaluation.latency_seconds.p95} />
          </td>
        </>
      )}
    </tr>
  );
}
