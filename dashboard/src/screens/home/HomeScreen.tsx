/** What changed: runs that are going, the newest verdict, the latest runs. */
import { isGoing, useComparison, useRuns, useStartRun } from '@/api/queries';
import type { ListedRun } from '@/api/documents';
import { Button, Empty, Failure, Loading, PageHead, Section } from '@/components/Basics';
import { RunTable } from '@/screens/runs/RunTable';
import { Leader } from '@/screens/compare/Leader';
import { countText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { navigate, path } from '@/router/location';
import { plural, t } from '@/text/text';
import { useMay } from '@/api/session';
import { useKeys } from '@/app/keys';

const DEMO = { name: 'demo', models: ['demo/strong', 'demo/weak'], benchmarks: [{ benchmark: 'puzzles', limit: 200 }] };

export default function HomeScreen() {
  const runs = useRuns({}, 50);
  if (runs.data === undefined)
    return runs.error ? <Failure isPage error={runs.error} retry={() => void runs.refetch()} /> : <Loading />;
  const items = runs.data.pages.flatMap((page) => page.items);
  if (items.length === 0) return <FirstVisit />;
  return <Latest items={items} />;
}

function FirstVisit() {
  const start = useStartRun();
  const mayRun = useMay('run:write');
  const demo = () => start.mutate(DEMO, { onSuccess: ({ run_id }) => navigate(path`/runs/${run_id}`) });
  useKeys(mayRun ? [{ key: 'Enter', label: t('home.demo'), run: demo }] : []);
  return (
    <>
      <PageHead trail={t('nav.home')} title={t('home.first')} lead={t('home.first.lead')} />
      <Empty title={t('home.try')}>
        <p className="muted">{t('home.demo.what')}</p>
        {mayRun && (
          <div className="buttons">
            <Button kind="main" shortcut="↵" onClick={demo} disabled={start.isPending}>
              {t('home.demo')}
            </Button>
            <Link className="button" to="/plan">
              {t('home.own-plan')}
            </Link>
          </div>
        )}
        {start.error && <Failure error={start.error} />}
      </Empty>
    </>
  );
}

function Latest({ items }: { items: readonly ListedRun[] }) {
  const going = items.filter(isGoing);
  const compared = items.find((run) => run.status === 'completed' && run.models.length > 1 && run.models.length <= 12);
  return (
    <>
      {compared ? (
        <NewestVerdict run={compared} />
      ) : (
        <PageHead trail={t('nav.home')} title={plural('home.runs', items.length)} />
      )}
      {going.length > 0 && (
        <Section title={t('home.going')}>
          <RunTable runs={going} />
        </Section>
      )}
      <Section title={t('home.latest')} tools={<Link to="/runs">{t('home.all')}</Link>}>
        <RunTable runs={items.filter((run) => !isGoing(run)).slice(0, 10)} />
      </Section>
    </>
  );
}

/** The sentence of the newest run with several models; the evidence is one click away. */
function NewestVerdict({ run }: { run: ListedRun }) {
  const comparisons = useComparison({ a: run.run_id });
  const first = comparisons.data?.comparisons[0];
  if (!first) {
    const title = run.name ?? run.models.join(', ');
    return <PageHead trail={t('nav.home')} title={title} lead={comparisons.error?.message} />;
  }
  return (
    <PageHead
      trail={`${t('home.newest')} · ${first.benchmark} · ${run.name ?? run.run_id}`}
      title={<Leader comparisons={comparisons.data?.comparisons ?? []} />}
      lead={t('compare.lead', { n: countText(first.n), test: first.test })}
    >
      <div className="buttons">
        <Link className="button main" to={`/compare?a=${encodeURIComponent(run.run_id)}`}>
          {t('home.see-comparison')}
        </Link>
        <Link className="button" to={path`/runs/${run.run_id}`}>
          {t('home.see-run')}
        </Link>
      </div>
    </PageHead>
  );
}
