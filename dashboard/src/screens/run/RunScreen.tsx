/** A run: what it says so far, while it is going and when it is done. */
import type { ListedRun, RunDocument } from '@/api/documents';
import { isGoing, useComparison, useRun, useRunAction } from '@/api/queries';
import { useMay } from '@/api/session';
import { isSite } from '@/api/site';
import { useLive, type Live } from '@/api/live';
import { useKeys } from '@/app/keys';
import { Button, Failure, Loaded, PageHead } from '@/components/Basics';
import { Link } from '@/router/Link';
import { navigate, path } from '@/router/location';
import { Leader } from '@/screens/compare/Leader';
import { reviewLink } from '@/screens/review/link';
import { samplesLink } from '@/screens/samples/link';
import { countText, secondsText } from '@/numbers/text';
import { plural, t, type TextKey } from '@/text/text';
import { Evaluations } from './Evaluations';
import { Faults } from './Faults';
import { LiveBadge } from './LiveBadge';
import { Money } from './Money';
import { Setup } from './Setup';
import './run.css';

export default function RunScreen({ parameters: { run = '' } }: { parameters: Readonly<Record<string, string>> }) {
  const query = useRun(run);
  const live = useLive();
  return (
    <Loaded isPage query={query}>
      {(data) => <Shown run={data} live={isGoing(data) ? live : null} />}
    </Loaded>
  );
}

function Shown({ run, live }: { run: RunDocument; live: Live | null }) {
  return (
    <>
      <Head run={run} live={live} />
      {run.waiting_for !== null && (
        <p className="notice" role="status">
          {run.waiting_for}
        </p>
      )}
      {run.error !== null && (
        <p className="notice" role="alert">
          {run.error}
        </p>
      )}
      {run.evaluations.length > 0 && (
        <>
          <Evaluations run={run} />
          <div className="columns">
            <Money run={run} />
            <Faults run={run} />
          </div>
          <Setup run={run} />
        </>
      )}
    </>
  );
}

const done = (run: RunDocument) =>
  run.evaluations.reduce((sum, one) => sum + one.trials - one.pending - one.stopped, 0);
const trials = (run: RunDocument) => run.evaluations.reduce((sum, one) => sum + one.trials, 0);

function Head({ run, live }: { run: RunDocument; live: Live | null }) {
  const benchmarks = [...new Set(run.evaluations.map((one) => one.benchmark))];
  const facts =
    run.evaluations.length === 0
      ? []
      : [
          isGoing(run)
            ? t('run.done-of', { done: countText(done(run)), n: countText(trials(run)) })
            : plural('run.trials', trials(run), countText(trials(run))),
          benchmarks.join(', '),
          plural('run.models', new Set(run.evaluations.map((one) => one.model)).size),
          run.seconds > 0 ? secondsText(run.seconds) : null,
        ].filter((one) => one !== null && one !== '');
  return (
    <PageHead
      trail={
        <>
          <Link to="/runs">{t('nav.runs')}</Link> · {run.run_id}
          {run.name !== null && ` · ${run.name}`}
        </>
      }
      title={<Headline run={run} />}
      lead={facts.join(' · ')}
      tools={live && <LiveBadge live={live} />}
    >
      {isGoing(run) && <progress value={run.progress} max={1} aria-label={t('run.progress')} />}
      <Actions run={run} />
    </PageHead>
  );
}

/** With several models: who is better. With one: what was measured. */
function Headline({ run }: { run: RunDocument }) {
  const [first] = run.evaluations;
  const isComparable = run.status === 'completed' && canCompare(run);
  const comparisons = useComparison({ a: run.run_id }, isComparable).data?.comparisons ?? [];
  if (run.status === 'queued') return <>{t('run.queued')}</>;
  if (comparisons.length > 0) return <Leader comparisons={comparisons} />;
  if (isGoing(run)) return <>{t('run.going', { percent: Math.floor(run.progress * 100) })}</>;
  if (run.status !== 'completed') return <>{t(`run.ended.${run.status}` as TextKey)}</>;
  if (run.evaluations.length === 1 && first) {
    return <>{t('run.measured', { model: first.side, benchmark: first.benchmark })}</>;
  }
  return <>{run.name ?? t('run.completed')}</>;
}

/** So many sides make so many pairs that a sentence takes long to compute and says little. */
const MOST_SIDES = 12;

const canCompare = ({ evaluations }: RunDocument) =>
  evaluations.length <= MOST_SIDES &&
  evaluations.some((one, index) => evaluations.findIndex((other) => other.benchmark === one.benchmark) < index);

function Actions({ run }: { run: RunDocument }) {
  const cancel = useRunAction(run.run_id, 'cancel');
  const resume = useRunAction(run.run_id, 'resume');
  const compareLink = canCompare(run) ? `/compare?a=${encodeURIComponent(run.run_id)}` : null;
  const mayRun = useMay('run:write');
  const canResume =
    (mayRun && ['failed', 'cancelled'].includes(run.status)) ||
    (run as Partial<ListedRun>).shown_status === 'interrupted';
  const going = isGoing(run) && !canResume && mayRun;
  useKeys([
    { key: 's', label: t('run.see-samples'), run: () => navigate(samplesLink(run.run_id, {})) },
    { key: 'r', label: t('review.open'), run: () => navigate(reviewLink('random', { run: run.run_id })) },
    { key: 'f', label: t('keys.faults'), run: () => navigate(samplesLink(run.run_id, { outcome: 'failed' })) },
    ...(compareLink ? [{ key: 'c', label: t('keys.compare'), run: () => navigate(compareLink) }] : []),
    ...(going ? [{ key: '.', label: t('run.stop'), run: () => cancel.mutate() }] : []),
  ]);
  const error = cancel.error ?? resume.error;
  return (
    <>
      <div className="buttons no-print">
        {compareLink && run.status === 'completed' && (
          <Link className="button main" to={compareLink}>
            {t('action.compare')} <kbd>c</kbd>
          </Link>
        )}
        <Link className="button" to={samplesLink(run.run_id, {})}>
          {t('run.see-samples')} <kbd>s</kbd>
        </Link>
        {run.evaluations.length > 0 && (
          <Link className="button" to={reviewLink('random', { run: run.run_id })}>
            {t('review.open')} <kbd>r</kbd>
          </Link>
        )}
        {going && (
          <Button shortcut="." onClick={() => cancel.mutate()} disabled={cancel.isPending || cancel.isSuccess}>
            {cancel.isSuccess ? t('run.stopping') : t('run.stop')}
          </Button>
        )}
        {canResume && (
          <Button onClick={() => resume.mutate()} disabled={resume.isPending}>
            {t('run.resume')}
          </Button>
        )}
        {!isGoing(run) && !isSite && (
          <>
            <a
              className="button"
              href={`/api/v1${path`/runs/${run.run_id}/report`}?format=html`}
              download={`${run.run_id}.html`}
            >
              {t('run.report')}
            </a>
            <a
              className="button"
              href={`/api/v1${path`/runs/${run.run_id}/export`}?format=csv`}
              download={`${run.run_id}.csv`}
            >
              {t('action.export')}
            </a>
          </>
        )}
      </div>
      {error && <Failure error={error} />}
    </>
  );
}
