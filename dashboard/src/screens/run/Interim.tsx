/** A run while it goes on: scores as they narrow, how long each model still needs, every answer as a dot. */
import type { EvaluationSummary, InterimEvaluation, InterimResults, RunDocument, UnknownReason } from '@/api/documents';
import { isGoing } from '@/api/queries';
import { DotOf, DotStrip, MARK_TEXT, MARKS } from '@/charts/DotStrip';
import { Narrowing } from '@/charts/Narrowing';
import { Section, SideName, Wide } from '@/components/Basics';
import { Dash, Seconds } from '@/components/Figures';
import { significant } from '@/numbers/rounding';
import { countText, secondsText } from '@/numbers/text';
import { navigate } from '@/router/location';
import { samplesLink } from '@/screens/samples/link';
import { hasText, t } from '@/text/text';

interface Shown {
  index: number;
  summary: EvaluationSummary;
  interim: InterimEvaluation;
}

/** More models are told by the table: so many bands hide one another. */
const MAX_BANDS = 6;
const MAX_DOTS = 2_000;

function joined(run: RunDocument, interim: InterimResults): readonly Shown[] {
  return run.evaluations.flatMap((summary, index) => {
    const found = interim.evaluations[index];
    return found?.side === summary.side && found.benchmark === summary.benchmark
      ? [{ index, summary, interim: found }]
      : [];
  });
}

/** Seconds until a model has answered all, at the pace of its newest answers; null where that is not known. */
export function secondsLeft(summary: EvaluationSummary, interim: InterimEvaluation): number | null {
  if (summary.pending === 0) return 0;
  return interim.per_minute === null || interim.per_minute === 0 ? null : (60 * summary.pending) / interim.per_minute;
}

/** How long the slowest still needs; null while one of them is too new to say. */
export function slowestLeft(run: RunDocument, interim: InterimResults): number | null {
  const left = joined(run, interim).map((one) => secondsLeft(one.summary, one.interim));
  return left.length === 0 || left.includes(null) ? null : Math.max(...(left as number[]));
}

export function Interim({ run, interim }: { run: RunDocument; interim: InterimResults }) {
  const shown = joined(run, interim);
  return (
    <>
      <div className="columns run-interim">
        <div>
          {[...new Set(shown.map(({ summary }) => summary.benchmark))].map((benchmark) => (
            <SoFar
              key={benchmark}
              benchmark={benchmark}
              shown={shown.filter((one) => one.summary.benchmark === benchmark)}
            />
          ))}
        </div>
        <Pace shown={shown} isGoing={isGoing(run)} />
      </div>
      <EveryAnswer run={run} shown={shown} />
    </>
  );
}

function SoFar({ benchmark, shown }: { benchmark: string; shown: readonly Shown[] }) {
  const known = shown.filter(({ interim }) => interim.points.length > 0);
  const reasons = [...new Set(shown.flatMap(({ interim }) => (interim.unknown ? unknownText(interim.unknown) : [])))];
  const title = `${benchmark} · ${t('run.so-far')}`;
  return (
    <Section title={title} note={t('run.so-far.note')}>
      {known.length > 0 && (
        <>
          <Narrowing
            title={title}
            series={known.slice(0, MAX_BANDS).map(({ index, interim }) => ({ index, evaluation: interim }))}
            samples={Math.max(...known.map(({ summary }) => summary.samples))}
          />
          <p className="muted small">{t('run.so-far.axis')}</p>
        </>
      )}
      {known.length === 0 && reasons.length === 0 && <p className="muted">{t('run.so-far.none')}</p>}
      {reasons.map((reason) => (
        <p key={reason} className="muted">
          {reason}
        </p>
      ))}
    </Section>
  );
}

/** Why there is no interval, in the reader's language; in the API's sentence where there are no words for its name. */
export function unknownText({ code, values, sentence }: UnknownReason): string {
  const key = `unknown.${code}`;
  const shown = Object.entries(values).map(([name, value]) => [name, countText(value)] as const);
  return hasText(key) ? t(key, Object.fromEntries(shown)) : sentence;
}

function Pace({ shown, isGoing }: { shown: readonly Shown[]; isGoing: boolean }) {
  return (
    <Section title={t('run.pace')}>
      <Wide label={t('run.pace')}>
        <table>
          <thead>
            <tr>
              <th>{t('word.model')}</th>
              <th className="number">{t('run.answered')}</th>
              <th className="number">{t('run.per-minute')}</th>
              <th className="number">p50</th>
              <th className="number">{t('run.left')}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ index, summary, interim }) => (
              <tr key={index}>
                <td>
                  <SideName index={index} name={summary.side} />
                </td>
                <td className="number">{countText(summary.trials - summary.pending - summary.stopped)}</td>
                <td className="number">
                  {interim.per_minute === null ? (
                    <Dash reason={t(isGoing ? 'run.pace.few' : 'run.pace.ended')} />
                  ) : (
                    significant(interim.per_minute, 3)
                  )}
                </td>
                <td className="number">
                  <Seconds value={summary.latency_seconds.p50} />
                </td>
                <td className="number">
                  <Left summary={summary} interim={interim} isGoing={isGoing} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </Section>
  );
}

function Left({ summary, interim, isGoing }: Omit<Shown, 'index'> & { isGoing: boolean }) {
  const left = secondsLeft(summary, interim);
  if (!isGoing) return <Dash reason={t('run.pace.ended')} />;
  return left === null ? <Dash reason={t('run.pace.few')} /> : <>{secondsText(Math.round(left))}</>;
}

function EveryAnswer({ run, shown }: { run: RunDocument; shown: readonly Shown[] }) {
  const marks = shown.flatMap(({ interim }) => interim.latest.map(({ mark }) => mark));
  const kinds = MARKS.filter((mark) => marks.includes(mark));
  if (marks.length === 0) return null;
  const isCut = shown.some(
    ({ summary, interim }) => interim.latest.length < summary.trials - summary.pending - summary.stopped,
  );
  return (
    <Section
      title={t('run.every-answer')}
      note={
        <>
          <span className="dot-legend">
            {kinds.map((mark) => (
              <span key={mark}>
                <DotOf mark={mark} />
                {t(MARK_TEXT[mark])}
              </span>
            ))}
          </span>{' '}
          {t(isCut ? 'run.every-answer.newest' : 'run.every-answer.note')}
        </>
      }
    >
      {shown.map(({ index, summary, interim }) => {
        const counts = MARKS.map((mark) => [mark, interim.latest.filter((one) => one.mark === mark).length] as const);
        const said = counts.filter(([, n]) => n > 0).map(([mark, n]) => `${countText(n)} ${t(MARK_TEXT[mark])}`);
        return (
          <div key={index} className="every-answer">
            <SideName index={index} name={`${summary.side} · ${summary.benchmark}`} />
            <DotStrip
              label={`${summary.side}, ${summary.benchmark}: ${said.join(', ')}`}
              results={interim.latest}
              pending={
                isGoing(run)
                  ? Math.max(0, Math.min(summary.pending, MAX_DOTS / shown.length - interim.latest.length))
                  : 0
              }
              open={(at) =>
                navigate(samplesLink(run.run_id, { model: summary.side, benchmark: summary.benchmark, at }))
              }
            />
          </div>
        );
      })}
    </Section>
  );
}
