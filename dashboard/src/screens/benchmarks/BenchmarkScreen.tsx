/** One benchmark: what it asks, how it is scored, and who was measured on it. */
import type { BenchmarkDescription } from '@/api/documents';
import { useBenchmark, useRuns } from '@/api/queries';
import { Loaded, PageHead, Section, Tag, Wide } from '@/components/Basics';
import { Count } from '@/components/Figures';
import { Foreign } from '@/components/Foreign';
import { countText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { RunTable } from '@/screens/runs/RunTable';
import { t } from '@/text/text';

export default function BenchmarkScreen({
  parameters: { name = '' },
}: {
  parameters: Readonly<Record<string, string>>;
}) {
  const benchmark = useBenchmark(name);
  return (
    <Loaded isPage query={benchmark}>
      {(data) => <Shown benchmark={data} reference={name} />}
    </Loaded>
  );
}

function Shown({ benchmark, reference }: { benchmark: BenchmarkDescription; reference: string }) {
  const runs = useRuns({ benchmark: benchmark.name }, 10);
  const items = runs.data?.pages[0]?.items ?? [];
  const categories = Object.entries(benchmark.categories ?? {});
  return (
    <>
      <PageHead
        trail={
          <>
            <Link to="/benchmarks">{t('nav.benchmarks')}</Link> · {benchmark.name} {benchmark.version}
          </>
        }
        title={benchmark.name}
        lead={benchmark.description}
        tools={
          <>
            <Link className="button" to={`/leaderboard?benchmark=${encodeURIComponent(benchmark.name)}`}>
              {t('nav.leaderboard')}
            </Link>
            <Link className="button main" to={`/plan?benchmark=${encodeURIComponent(reference)}`}>
              {t('runs.new')}
            </Link>
          </>
        }
      >
        <span className="buttons">
          {Object.values(benchmark.tags).map((tag) => (
            <Tag key={tag}>{tag}</Tag>
          ))}
        </span>
        {benchmark.no_data != null && <p className="notice">{benchmark.no_data}</p>}
      </PageHead>
      <div className="columns">
        <Section title={t('benchmarks.facts')}>
          <table>
            <tbody>
              <Fact
                name={t('word.samples')}
                value={<Count value={benchmark.samples} reason={benchmark.no_data ?? t('reason.not-said')} />}
              />
              <Fact name={t('word.scorers')} value={Object.keys(benchmark.scorers).join(', ')} />
              <Fact name={t('benchmarks.metrics')} value={benchmark.metrics.join(', ')} />
              <Fact name={t('benchmarks.licence')} value={benchmark.licence ?? ''} />
              <Fact name={t('benchmarks.source')} value={benchmark.source ?? ''} />
              {benchmark.protocol !== '' && <Fact name={t('benchmarks.protocol')} value={benchmark.protocol} />}
            </tbody>
          </table>
        </Section>
        {benchmark.first_prompt && (
          <Section title={t('benchmarks.first-prompt')}>
            {benchmark.first_prompt.map((message, index) => (
              <div key={index} className="sample-block">
                <h3 className="muted small">{message.role}</h3>
                <Foreign text={message.content} limit={4_000} />
              </div>
            ))}
            {benchmark.first_target && (
              <div className="sample-block">
                <h3 className="muted small">{t('word.target')}</h3>
                <Foreign text={benchmark.first_target.join('\n')} limit={1_000} />
              </div>
            )}
          </Section>
        )}
        {categories.length > 1 && (
          <Section title={t('word.categories')} note={countText(categories.length)}>
            <Wide label={t('word.categories')} height={420}>
              <table>
                <tbody>
                  {categories.slice(0, 500).map(([name, count]) => (
                    <Fact key={name} name={name} value={countText(count)} />
                  ))}
                </tbody>
              </table>
            </Wide>
          </Section>
        )}
      </div>
      {items.length > 0 && (
        <Section title={t('benchmarks.runs')}>
          <RunTable runs={items} />
        </Section>
      )}
    </>
  );
}

function Fact({ name, value }: { name: string; value: React.ReactNode }) {
  return (
    <tr>
      <th>{name}</th>
      <td>{value}</td>
    </tr>
  );
}
