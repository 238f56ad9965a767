import type { ListedRun } from '@/api/documents';
import { isAsk, isGoing } from '@/api/queries';
import { Wide } from '@/components/Basics';
import { Cost, Dash } from '@/components/Figures';
import { agoText, countText, secondsText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { path } from '@/router/location';
import { t, useLanguage, type TextKey } from '@/text/text';
import './runs.css';

interface RunTableProps {
  runs: readonly ListedRun[];
  at?: number;
  chosen?: readonly string[];
  choose?: (run: string) => void;
}

export const runLink = (run: ListedRun) => (isAsk(run) ? path`/arena/${run.run_id}` : path`/runs/${run.run_id}`);

export function RunTable({ runs, at, chosen, choose }: RunTableProps) {
  return (
    <Wide label={t('nav.runs')}>
      <table className="runs-table">
        <thead>
          <tr>
            {choose && <th className="choice">{t('runs.choose')}</th>}
            <th>{t('word.run')}</th>
            <th>{t('word.models')}</th>
            <th>{t('word.benchmarks')}</th>
            <th>{t('runs.status')}</th>
            <th className="number">{t('word.trials')}</th>
            <th className="number took">{t('runs.took')}</th>
            <th className="number">{t('runs.cost')}</th>
            <th className="number">{t('runs.began')}</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run, index) => (
            <RunRow
              key={run.run_id}
              run={run}
              isAt={index === at}
              {...(choose ? { isChosen: chosen?.includes(run.run_id) ?? false, choose } : {})}
            />
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

interface RunRowProps {
  run: ListedRun;
  isAt: boolean;
  isChosen?: boolean;
  choose?: (run: string) => void;
}

function RunRow({ run, isAt, isChosen, choose }: RunRowProps) {
  const language = useLanguage();
  const began = new Date(run.created_at);
  return (
    <tr className={isAt ? 'at' : undefined} data-run={run.run_id}>
      {choose && (
        <td className="choice">
          {!isAsk(run) && (
            <input
              type="checkbox"
              checked={isChosen ?? false}
              onChange={() => choose(run.run_id)}
              aria-label={t('runs.choose-one', { run: run.run_id })}
            />
          )}
        </td>
      )}
      <td className="run-name">
        <Link to={runLink(run)} title={run.name ?? run.run_id}>
          <bdi>{run.name || run.run_id}</bdi>
        </Link>
        {run.name && <span className="muted small"> {run.run_id}</span>}
        {run.tags?.map((tag) => (
          <Link key={tag} className="run-tag small" to={`/runs?${new URLSearchParams({ tag }).toString()}`}>
            #{tag}
          </Link>
        ))}
      </td>
      <td className="names">
        <Names names={run.models} />
      </td>
      <td className="names benchmarks">
        {isAsk(run) ? <Dash reason={t('reason.no-benchmark')} /> : <Names names={run.benchmarks} />}
      </td>
      <td className="state">
        <RunState run={run} />
      </td>
      <td className="number trials">{countText(run.trials)}</td>
      <td className="number took">
        {isGoing(run) && run.seconds === 0 ? (
          <Dash reason={t(run.status === 'queued' ? 'reason.queued' : 'reason.still-running')} />
        ) : (
          secondsText(run.seconds)
        )}
      </td>
      <td className="number">
        {run.cost_basis === null ? (
          <Dash reason={t(isAsk(run) && !isGoing(run) ? 'reason.blind' : 'reason.not-summed')} />
        ) : (
          <Cost usd={run.cost_usd} basis={run.cost_basis} />
        )}
      </td>
      <td className="number began">
        <time dateTime={run.created_at} title={began.toLocaleString(language)}>
          {agoText(began, new Date(), language)}
        </time>
      </td>
    </tr>
  );
}

const MAX_NAMES = 3;

function Names({ names }: { names: readonly string[] }) {
  const rest = names.length - MAX_NAMES;
  return (
    <span title={names.join(', ')}>
      <bdi>{names.slice(0, MAX_NAMES).join(', ')}</bdi>
      {rest > 0 && <span className="muted"> +{rest}</span>}
    </span>
  );
}

function RunState({ run }: { run: ListedRun }) {
  const share = run.done === null || run.trials === 0 ? null : run.done / run.trials;
  return (
    <span className={`run-state ${run.shown_status}`}>
      <i aria-hidden="true" />
      {t(`status.${run.shown_status}` as TextKey)}
      {share !== null && <span className="muted"> {Math.floor(share * 100)} %</span>}
    </span>
  );
}
