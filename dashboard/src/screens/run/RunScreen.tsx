/** A run: what it says so far, while it is going and when it is done. */
import { useEffect } from 'react';
import { beginDeletion } from '@/api/deletions';
import type { EvaluationSummary, InterimResults, ListedRun, RunDocument } from '@/api/documents';
import { useInterim } from '@/api/interim';
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
import { decimalText } from '@/numbers/rounding';
import { countText, secondsText } from '@/numbers/text';
import { plural, t, type TextKey } from '@/text/text';
import { Evaluations } from './Evaluations';
import { Faults } from './Faults';
import { Interim, slowestLeft } from './Interim';
import { interimSentence, isDecided } from './interimSentence';
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

/** A run that was stopped still says what was known then; one that was completed has more to say. */
const hasInterim = (run: RunDocument) =>
  !isSite && run.evaluations.length > 0 && (isGoing(run) || run.status === 'cancelled');

function Shown({ run, live }: { run: RunDocument; live: Live | null }) {
  const isWanted = hasInterim(run);
  const asked = useInterim(run.run_id, isWanted, isGoing(run));
  const interim = isWanted ? (asked.data?.found ?? null) : null;
  return (
    <>
      <Head run={run} live={live} interim={interim} />
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
          {interim !== null && <Interim run={run} interim={interim} />}
          <Evaluations run={run} />
          <div className="columns run-evidence">
            <Money run={run} limit={interim?.cost_limit_usd ?? null} />
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

interface HeadProps {
  run: RunDocument;
  live: Live | null;
  interim: InterimResults | null;
}

function Head({ run, live, interim }: HeadProps) {
  const left = interim === null || !isGoing(run) ? null : slowestLeft(run, interim);
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
          left === null ? null : t('run.slowest-left', { time: secondsText(Math.round(left)) }),
          interim?.evaluations.some(({ points }) => points.length > 0) ? t('run.every-look') : null,
        ].filter((one) => one !== null && one !== '');
  return (
    <PageHead
      trail={
        <>
          <Link to="/runs">{t('nav.runs')}</Link> · {run.run_id}
          {run.name !== null && ` · ${run.name}`}
        </>
      }
      title={<Headline run={run} interim={interim} />}
      lead={facts.join(' · ')}
      tools={live && <LiveBadge live={live} />}
    >
      {isGoing(run) && <progress value={run.progress} max={1} aria-label={t('run.progress')} />}
      <Actions run={run} isDecided={interim !== null && isDecided(interim)} />
    </PageHead>
  );
}

/** With several models: who is better. With one: what was measured. */
function Headline({ run, interim }: Omit<HeadProps, 'live'>) {
  const [first] = run.evaluations;
  const isComparable = run.status === 'completed' && run.evaluations.length <= MAX_SIDES && canCompare(run);
  const comparisons = useComparison({ a: run.run_id }, isComparable).data?.comparisons ?? [];
  if (run.status === 'queued') return <>{t('run.queued')}</>;
  if (comparisons.length > 0) return <Leader comparisons={comparisons} />;
  const soFar = interim === null ? null : interimSentence(interim);
  if (soFar !== null) return <>{isGoing(run) ? soFar : `${t('run.stopped')} ${soFar}`}</>;
  if (isGoing(run)) return <>{t('run.going', { percent: Math.floor(run.progress * 100) })}</>;
  if (run.status !== 'completed') return <>{t(`run.ended.${run.status}` as TextKey)}</>;
  if (run.evaluations.length === 1 && first) {
    return <>{t('run.measured', { model: first.side, benchmark: first.benchmark })}</>;
  }
  return <Highest run={run} />;
}

/** So many sides make so many pairs that a sentence takes long to compute and says little. */
const MAX_SIDES = 12;

const canCompare = ({ evaluations }: RunDocument) =>
  evaluations.some((one, index) => evaluations.findIndex((other) => other.benchmark === one.benchmark) < index);

/** Whose score is the highest of many, without a claim that a difference is shown. */
function Highest({ run }: { run: RunDocument }) {
  const [first] = run.evaluations;
  const valueOf = (one: EvaluationSummary) => Object.values(one.metrics)[0]?.value ?? -Infinity;
  const [best, ...others] = run.evaluations
    .filter((one) => one.benchmark === first?.benchmark)
    .sort((one, other) => valueOf(other) - valueOf(one));
  if (!best || others.length < MAX_SIDES || !Number.isFinite(valueOf(best)))
    return <>{run.name ?? t('run.completed')}</>;
  const value = decimalText(valueOf(best));
  return <>{t('run.highest', { model: best.side, n: others.length + 1, benchmark: best.benchmark, value })}</>;
}

function Actions({ run, isDecided }: { run: RunDocument; isDecided: boolean }) {
  const cancel = useRunAction(run.run_id, 'cancel');
  const resume = useRunAction(run.run_id, 'resume');
  const compareLink = canCompare(run) ? `/compare?a=${encodeURIComponent(run.run_id)}` : null;
  const mayRun = useMay('run:write');
  const canResume =
    mayRun &&
    (['failed', 'cancelled'].includes(run.status) || (run as Partial<ListedRun>).shown_status === 'interrupted');
  const going = isGoing(run) && !canResume && mayRun;
  const canDelete = mayRun && !isSite && (!isGoing(run) || canResume);
  const { mutate: stop, reset: forgetStop, isPending, isSuccess } = cancel;
  const isStopping = isPending || isSuccess;
  // Taken up again, by whomever, it can be stopped again.
  useEffect(() => {
    if (!going) forgetStop();
  }, [going, forgetStop]);
  useKeys([
    { key: 's', label: t('run.see-samples'), run: () => navigate(samplesLink(run.run_id, {})) },
    { key: 'r', label: t('review.open'), run: () => navigate(reviewLink('random', { run: run.run_id })) },
    { key: 'f', label: t('keys.faults'), run: () => navigate(samplesLink(run.run_id, { outcome: 'failed' })) },
    ...(compareLink ? [{ key: 'c', label: t('keys.compare'), run: () => navigate(compareLink) }] : []),
    ...(going ? [{ key: 'p', label: t('run.pause'), run: () => stop() }] : []),
    ...(going ? [{ key: '.', label: t('run.stop'), run: () => stop() }] : []),
    ...(canResume ? [{ key: 'p', label: t('run.resume'), run: () => !resume.isPending && resume.mutate() }] : []),
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
        {going && (
          <Button
            {...(isDecided ? { kind: 'main' as const } : {})}
            shortcut={isDecided ? '.' : 'p'}
            title={t('run.pause.what')}
            onClick={() => stop()}
            disabled={isStopping}
          >
            {t(isStopping ? 'run.stopping' : isDecided ? 'run.stop-decided' : 'run.pause')}
          </Button>
        )}
        {canResume && (
          <Button shortcut="p" onClick={() => resume.mutate()} disabled={resume.isPending}>
            {t(resume.failureCount > 0 && resume.isPending ? 'run.resuming' : 'run.resume')}
          </Button>
        )}
        <Link className="button" to={samplesLink(run.run_id, {})}>
          {t('run.see-samples')} <kbd>s</kbd>
        </Link>
        {run.evaluations.length > 0 && (
          <Link className="button" to={reviewLink('random', { run: run.run_id })}>
            {t('review.open')} <kbd>r</kbd>
          </Link>
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
        {mayRun && !isGoing(run) && !isSite && run.evaluations.length > 0 && (
          <Link className="button" to={path`/runs/${run.run_id}/rescore`}>
            {t('rescore.do')}
          </Link>
        )}
        {canDelete && (
          <Button
            kind="quiet"
            onClick={() => {
              beginDeletion(run.run_id, run.name ?? run.run_id);
              navigate('/runs');
            }}
          >
            {t('delete.run')}
          </Button>
        )}
      </div>
      {error && <Failure error={error} />}
    </>
  );
}
