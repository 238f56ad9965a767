/** What changed: runs that are going, the newest verdict, the latest runs. */
import { isGoing, useComparison, useRuns, useStartRun } from '@/api/queries';
import type { Comparison, ListedBudget, ListedRun } from '@/api/documents';
import { useListed } from '@/api/administration';
import { Ago } from '@/components/Ago';
import { Button, Empty, Failure, Loading, PageHead, Section } from '@/components/Basics';
import { RunTable } from '@/screens/runs/RunTable';
import { Leader, leaderOf, nearestTo } from '@/screens/compare/Leader';
import { verdictText } from '@/screens/compare/verdictText';
import { costText, countText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { navigate, path } from '@/router/location';
import { plural, t, type TextKey } from '@/text/text';
import './home.css';
import { useMay, useSession } from '@/api/session';
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
  const demo = () => start.mutate({ plan: DEMO }, { onSuccess: ({ run_id }) => navigate(path`/runs/${run_id}`) });
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
  const [compared, ...earlier] = items.filter(
    (run) => run.status === 'completed' && run.models.length > 1 && run.models.length <= 12,
  );
  const wrong = items.slice(0, 10).filter((run) => ['failed', 'interrupted'].includes(run.shown_status));
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
      {wrong.length > 0 && (
        <Section title={t('home.attention')} note={plural('home.failed-runs', wrong.length)}>
          <RunTable runs={wrong} />
        </Section>
      )}
      <Spending />
      {earlier.length > 0 && (
        <Section title={t('home.verdicts')}>
          <ul className="verdicts">
            {earlier.slice(0, 3).map((run) => (
              <EarlierVerdict key={run.run_id} run={run} />
            ))}
          </ul>
        </Section>
      )}
      <Section title={t('home.latest')} tools={<Link to="/runs">{t('home.all')}</Link>}>
        <RunTable runs={items.filter((run) => !isGoing(run) && !wrong.includes(run)).slice(0, 10)} />
      </Section>
    </>
  );
}

/** The sentence of the newest run with several models; the evidence is one click away. */
function NewestVerdict({ run }: { run: ListedRun }) {
  const comparisons = useComparison({ a: run.run_id });
  const all = comparisons.data?.comparisons ?? [];
  const [first] = all;
  if (!first) {
    const title = run.name ?? run.models.join(', ');
    return <PageHead trail={t('nav.home')} title={title} lead={comparisons.error?.message} />;
  }
  return (
    <PageHead
      trail={`${t('home.newest')} · ${first.benchmark} · ${run.name ?? run.run_id}`}
      title={<Leader comparisons={all} />}
      lead={leadOf(all)}
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

/** What the sentence rests on: of several comparisons on a benchmark, that of the leader with the nearest. */
function leadOf(all: readonly Comparison[]): string | undefined {
  const [first] = all;
  if (!first) return undefined;
  const evidence = (one: Comparison) => t('compare.lead', { n: countText(one.n), test: one.test });
  const onFirst = all.filter((one) => one.benchmark === first.benchmark);
  if (onFirst.length === 1) {
    const sides = t('compare.against', { a: first.a.name, b: first.b.name });
    return all.length === 1 ? `${sides} · ${evidence(first)}` : evidence(first);
  }
  const leader = leaderOf(onFirst);
  const nearest = leader === null ? null : nearestTo(leader, onFirst);
  if (nearest === null) return undefined;
  const other = nearest.a.name === leader ? nearest.b.name : nearest.a.name;
  return `${t('home.nearest', { other, verdict: verdictText(nearest) })} · ${evidence(nearest)}`;
}

function EarlierVerdict({ run }: { run: ListedRun }) {
  const comparisons = useComparison({ a: run.run_id });
  const found = comparisons.data?.comparisons ?? [];
  if (found.length === 0) return null;
  return (
    <li>
      <Link to={`/compare?a=${encodeURIComponent(run.run_id)}`}>
        <Leader comparisons={found} />
      </Link>{' '}
      <span className="muted small">
        <bdi>{run.name ?? run.run_id}</bdi> · <Ago when={run.created_at} />
      </span>
    </li>
  );
}

/** What was spent of the budgets that have a limit; nothing where there is none. */
function Spending() {
  const { data: session } = useSession();
  // The person at a machine without accounts has no budget.
  const budgets = useListed<ListedBudget>('/budgets', (session?.csrf_token ?? '') !== '');
  const limited = (budgets.data ?? []).filter((one) => one.cost_usd !== null);
  if (limited.length === 0) return null;
  return (
    <Section title={t('budget.title')}>
      <ul className="verdicts">
        {limited.map((one) => {
          const share = Math.min(1, Number(one.spent_usd) / (Number(one.cost_usd) || 1));
          const spent = t('budget.of', {
            spent: costText(Number(one.spent_usd)),
            limit: costText(Number(one.cost_usd)),
            per: t(`budget.per.${one.per}` as TextKey),
          });
          return (
            <li key={`${one.kind} ${one.subject}`}>
              <bdi>{one.subject}</bdi> <span className={share >= 0.9 ? 'mark-wrong' : 'muted'}>{spent}</span>
              <progress value={share} max={1} aria-label={`${one.subject}: ${spent}`} />
            </li>
          );
        })}
      </ul>
    </Section>
  );
}
