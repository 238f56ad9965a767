/** How a score moved from run to run: one small chart for each model and benchmark, with a mark where the samples changed. */
import { useQueries } from '@tanstack/react-query';
import type { ListedRun, RunDocument } from '@/api/documents';
import { request } from '@/api/http';
import { useRuns } from '@/api/queries';
import { Sparkline, type HistoryPoint } from '@/charts/Sparkline';
import { Button, Empty, Loaded, Loading, PageHead, Section } from '@/components/Basics';
import { Search } from '@/components/Fields';
import { Estimate } from '@/components/Figures';
import { Link } from '@/router/Link';
import { path, useParameters } from '@/router/location';
import { samplesLink } from '@/screens/samples/link';
import { plural, t } from '@/text/text';
import './history.css';

/** So many runs are read in full; more are read when asked for. */
const AT_ONCE = 30;

export default function HistoryScreen() {
  const [parameters, change] = useParameters();
  const model = parameters.get('model');
  const benchmark = parameters.get('benchmark');
  const runs = useRuns({ status: 'completed', model, benchmark }, AT_ONCE);
  return (
    <>
      <PageHead trail={t('nav.history')} title={t('history.title')} lead={t('history.lead')} />
      <div className="filters">
        <Search
          label={t('word.model')}
          value={model ?? ''}
          change={(next) => change({ model: next }, { replace: true })}
        />
        <Search
          label={t('word.benchmark')}
          value={benchmark ?? ''}
          change={(next) => change({ benchmark: next }, { replace: true })}
        />
      </div>
      <Loaded query={runs}>
        {(data) => {
          const items = data.pages.flatMap((page) => page.items);
          if (items.length === 0) {
            return (
              <Empty title={model || benchmark ? t('runs.none-match') : t('runs.none')}>
                {(model || benchmark) && (
                  <Button onClick={() => change({ model: null, benchmark: null })}>{t('filter.clear')}</Button>
                )}
              </Empty>
            );
          }
          return (
            <>
              <Series runs={items} />
              {runs.hasNextPage && <Button onClick={() => void runs.fetchNextPage()}>{t('history.more')}</Button>}
            </>
          );
        }}
      </Loaded>
    </>
  );
}

interface Line {
  model: string;
  benchmark: string;
  metric: string;
  points: HistoryPoint[];
}

export function linesOf(runs: readonly RunDocument[]): Line[] {
  const lines = new Map<string, Line>();
  for (const run of [...runs].sort((a, b) => a.created_at.localeCompare(b.created_at))) {
    for (const evaluation of run.evaluations) {
      const [metric, estimate] = Object.entries(evaluation.metrics)[0] ?? [];
      if (metric === undefined || !estimate || estimate.value === null) continue;
      const key = JSON.stringify([evaluation.side, evaluation.benchmark, metric]);
      const line = lines.get(key) ?? { model: evaluation.side, benchmark: evaluation.benchmark, metric, points: [] };
      line.points.push({
        run: run.run_id,
        when: run.created_at,
        estimate,
        digest: evaluation.digest,
        model: evaluation.model,
      });
      lines.set(key, line);
    }
  }
  // A single point has no course: what moved comes first.
  const moved = (line: Line) => (line.points.length > 1 ? 0 : 1);
  return [...lines.values()].sort(
    (a, b) => moved(a) - moved(b) || a.benchmark.localeCompare(b.benchmark) || a.model.localeCompare(b.model),
  );
}

function Series({ runs }: { runs: readonly ListedRun[] }) {
  const documents = useQueries({
    queries: runs.map(({ run_id: run }) => ({
      queryKey: ['run', run],
      queryFn: ({ signal }: { signal: AbortSignal }) => request<RunDocument>(path`/runs/${run}`, { signal }),
      staleTime: 60_000,
    })),
  });
  const known = documents.flatMap(({ data }) => (data ? [data] : []));
  const lines = linesOf(known);
  if (known.length < runs.length && lines.length === 0) return <Loading />;
  return (
    <div className="history-grid">
      {lines.map((line) => {
        const last = line.points.at(-1);
        return (
          <Section
            key={`${line.model} ${line.benchmark} ${line.metric}`}
            title={`${line.model} · ${line.benchmark}`}
            note={plural('history.runs', line.points.length)}
          >
            <p>
              {last && (
                <Estimate
                  estimate={last.estimate}
                  to={samplesLink(last.run, { model: last.model, benchmark: line.benchmark })}
                />
              )}{' '}
              <span className="muted small">{line.metric}</span>
            </p>
            <Sparkline title={`${line.model} ${line.benchmark} ${line.metric}`} points={line.points} />
            {line.points.length > 1 && last && line.points[0] && (
              <p className="small">
                <Link
                  to={`/compare?${new URLSearchParams({ a: `${line.points.at(-2)?.run ?? ''}:${last.model}`, b: `${last.run}:${last.model}` }).toString()}`}
                >
                  {t('history.compare')}
                </Link>
              </p>
            )}
          </Section>
        );
      })}
    </div>
  );
}
