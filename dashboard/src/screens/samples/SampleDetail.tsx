/** One trial: what was asked, what came back, what was read out of it and why it got its mark. */
import { lazy, Suspense, useState, type ReactNode } from 'react';
import type { ResultDetails, TrialResult } from '@/api/documents';
import { useKeys } from '@/app/keys';
import { Button, Wide } from '@/components/Basics';
import { Cost, Count, Dash, Seconds } from '@/components/Figures';
import { Foreign } from '@/components/Foreign';
import { decimalText } from '@/numbers/rounding';
import { bytesText } from '@/numbers/text';
import { t } from '@/text/text';
import { Block, Folded } from './Block';
import { Comments } from './Comments';
import { OwnMark } from './OwnMark';
import { Prompt } from './Prompt';
import { Repeats } from './Repeats';
import { Mark } from './SampleRow';
import { asTest } from './asTest';

// The ways of showing an answer are no part of the first screen.
const ResponseText = lazy(() => import('./ResponseText'));

interface SampleDetailProps {
  /** With its prompt and its attempts as soon as these are here. */
  result: TrialResult | ResultDetails;
  hasRepeats?: boolean;
}

export function SampleDetail({ result, hasRepeats = false }: SampleDetailProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(asTest(result));
    setCopied(true);
  };
  useKeys([{ key: 'y', label: t('samples.copy-test'), run: () => void copy() }]);
  return (
    <article className="sample-detail" aria-label={result.sample_id}>
      <header className="sample-head">
        <strong>
          <bdi>{result.sample_id}</bdi>
        </strong>
        <Mark result={result} />
        <span className="muted">
          {result.side ?? result.model} · {result.benchmark}
          {result.epoch > 0 && ` · ${t('samples.epoch', { n: result.epoch + 1 })}`}
          {result.attempt > 0 && ` · ${t('samples.attempt', { n: result.attempt + 1 })}`}
          {result.cached && ` · ${t('samples.cached')}`}
        </span>
        <Button onClick={() => void copy()} shortcut="y">
          <span aria-live="polite">{isCopied ? t('action.copied') : t('samples.copy-test')}</span>
        </Button>
      </header>
      <OwnMark result={result} />
      <Block title={t('samples.input')}>
        <Foreign text={result.input} />
      </Block>
      <Prompt result={result} />
      <Block title={t('word.target')}>
        {result.target === null ? (
          <Dash reason={t('reason.no-target')} />
        ) : (
          <Foreign text={result.target} limit={4_000} />
        )}
      </Block>
      {result.error !== null && (
        <Block title={t('samples.error')}>
          <Foreign text={result.error} />
        </Block>
      )}
      <Block title={t('word.response')}>
        <Suspense fallback={<Foreign text={result.response ?? ''} total={result.response_characters ?? 0} />}>
          <ResponseText key={result.result_id} result={result} />
        </Suspense>
      </Block>
      {result.reasoning && (
        <Folded title={t('samples.reasoning')}>
          <Foreign text={result.reasoning} />
        </Folded>
      )}
      {result.tool_calls && result.tool_calls.length > 0 && (
        <Folded title={t('samples.tool-calls')}>
          <Foreign text={JSON.stringify(result.tool_calls, null, 2)} />
        </Folded>
      )}
      {result.files && (
        <Block title={t('samples.files')}>
          <ul>
            {Object.entries(result.files).map(([name, size]) => (
              <li key={name}>
                <bdi>{name}</bdi> <span className="muted">{bytesText(size)}</span>
              </li>
            ))}
          </ul>
        </Block>
      )}
      <Scores result={result} />
      {hasRepeats && <Repeats result={result} />}
      <Facts result={result} />
      {'attempts' in result && result.attempts.length > 1 && <Attempts result={result} />}
      <Comments key={result.result_id} run={result.run_id} result={result.result_id} />
    </article>
  );
}

function Scores({ result }: { result: TrialResult }) {
  const scores = Object.entries(result.scores);
  if (scores.length === 0) return null;
  return (
    <Block title={t('samples.scores')}>
      <Wide label={t('samples.scores')}>
        <table className="scores">
          <thead>
            <tr>
              <th>{t('word.scorer')}</th>
              <th className="number">{t('word.score')}</th>
              <th>{t('samples.read')}</th>
              <th>{t('word.reason')}</th>
            </tr>
          </thead>
          <tbody>
            {scores.map(([name, score]) => (
              <tr key={name}>
                <td>
                  {name} <span className="muted small">{score.version}</span>
                </td>
                <td className="number">
                  {score.value === null ? (
                    <Dash reason={score.reason} />
                  ) : (
                    <span title={String(score.value)}>{decimalText(score.value)}</span>
                  )}
                </td>
                <td>
                  {score.answer === null ? (
                    <Dash reason={t('reason.nothing-read')} />
                  ) : (
                    <Foreign text={score.answer} limit={400} />
                  )}
                </td>
                <td className="prose">
                  <Foreign text={score.reason} limit={2_000} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
      {scores.map(([name, score]) =>
        score.details === undefined || score.details === null ? null : (
          <Folded key={name} title={t('samples.evidence', { scorer: name })}>
            <pre>
              <Foreign text={JSON.stringify(score.details, null, 2)} />
            </pre>
          </Folded>
        ),
      )}
    </Block>
  );
}

function Attempts({ result }: { result: ResultDetails }) {
  return (
    <Folded title={`${t('samples.attempts')} (${result.attempts.length})`}>
      {result.attempts.map((one) => (
        <section key={one.result_id} className="sample-block">
          <h3>
            {t('samples.attempt', { n: one.attempt + 1 })} <Mark result={one} />
          </h3>
          <Foreign text={one.error ?? one.response ?? ''} limit={4_000} />
        </section>
      ))}
    </Folded>
  );
}

function Facts({ result }: { result: TrialResult }) {
  const facts: [string, ReactNode][] = [
    [
      t('samples.latency'),
      <Seconds key="l" value={result.latency_seconds} {...(result.cached ? { reason: t('samples.cached') } : {})} />,
    ],
    [
      t('samples.first-token'),
      <Seconds key="f" value={result.first_token_seconds} reason={t('reason.not-streamed')} />,
    ],
    [t('samples.tokens-in'), <Count key="i" value={result.usage.input_tokens} />],
    [t('samples.tokens-out'), <Count key="o" value={result.usage.output_tokens} />],
    [t('runs.cost'), <Cost key="c" small usd={result.cost_usd} basis={result.cost_basis} />],
    [t('samples.finish'), result.finish_reason ?? <Dash key="r" reason={t('reason.not-said')} />],
  ];
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt className="muted small">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
