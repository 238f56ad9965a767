/** One model's answer: its text as it grows, its figures once they are known, its failure apart from any text. */
import { useState } from 'react';
import { Answer } from '@/answers/Answer';
import { useStoredAsk } from '@/api/playground';
import { Button, SideName, Tag } from '@/components/Basics';
import { Cost, Seconds } from '@/components/Figures';
import { Foreign } from '@/components/Foreign';
import { DifferingText, useWordParts } from '@/components/WordDifference';
import { countText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { significant } from '@/numbers/rounding';
import { t, type TextKey } from '@/text/text';
import type { ShownAnswer } from './AskView';

interface Props {
  answer: ShownAnswer;
  isHidden: boolean;
  isBest: boolean;
  before: string | null;
  stop: (() => void) | null;
  /** Where one asks further after this answer; null where that cannot be. */
  goOn: string | null;
}

export function AnswerColumn({ answer, isHidden, isBest, before, stop, goOn }: Props) {
  const name = answer.model ?? t('arena.answer', { letter: answer.answer.toUpperCase() });
  const isGoing = answer.state === 'waiting' || answer.state === 'streaming';
  return (
    <div className="arena-column" role="listitem" aria-label={name} aria-busy={isGoing}>
      <header>
        <h3>{answer.place === null ? <bdi>{name}</bdi> : <SideName index={answer.place} name={name} />}</h3>
        {isBest && <Tag>{t('arena.preferred')}</Tag>}
        {isGoing && stop && (
          <Button kind="quiet" onClick={stop} aria-label={t('arena.stop-one', { name })}>
            {t('arena.stop')}
          </Button>
        )}
      </header>
      {answer.reasoning !== null && answer.reasoning !== undefined && answer.reasoning !== '' && (
        <details className="muted small">
          <summary>{t('arena.reasoning')}</summary>
          <Foreign text={answer.reasoning} />
        </details>
      )}
      <AnswerText answer={answer} before={isGoing ? null : before} isGoing={isGoing} />
      {isGoing && <p className="muted small arena-waiting">{t(`arena.state.${answer.state}` as TextKey)}</p>}
      <Outcome answer={answer} />
      {goOn !== null && (
        <Link className="small no-print" to={goOn} aria-label={t('arena.go-on-after', { name })}>
          {t('arena.go-on')}
        </Link>
      )}
      {!isHidden && <FiguresOf answer={answer} isGoing={isGoing} />}
    </div>
  );
}

function AnswerText({ answer, before, isGoing }: Pick<Props, 'answer' | 'before'> & { isGoing: boolean }) {
  if (before !== null && answer.model !== null)
    return <Difference answer={answer} before={before} model={answer.model} />;
  // What still grows is text: Markdown would be read anew with each token.
  return isGoing ? <Foreign text={answer.text} /> : <Answer text={answer.text} />;
}

/** The answer of the same model to the ask before, beside this one: only the words that differ are marked. */
function Difference({ answer, before, model }: { answer: ShownAnswer; before: string; model: string }) {
  const earlier = useStoredAsk(before).data?.answers.find((one) => one.model === model);
  const [isShown, setShown] = useState(true);
  const parts = useWordParts(earlier?.text ?? '', answer.text);
  if (!earlier || !isShown || earlier.text === '')
    return (
      <>
        <Answer text={answer.text} />
        {earlier && <ShowDifference isShown={isShown} change={setShown} />}
      </>
    );
  const isSame = earlier.text === answer.text;
  return (
    <>
      <DifferingText parts={parts.b} isRight />
      {isSame ? (
        <p className="muted small">{t('arena.same')}</p>
      ) : (
        <details className="small">
          <summary>{t('arena.before')}</summary>
          <DifferingText parts={parts.a} isRight={false} />
        </details>
      )}
      <ShowDifference isShown={isShown} change={setShown} />
    </>
  );
}

function ShowDifference({ isShown, change }: { isShown: boolean; change: (isShown: boolean) => void }) {
  return (
    <label className="check small">
      <input type="checkbox" checked={isShown} onChange={(event) => change(event.target.checked)} />{' '}
      {t('arena.show-difference')}
    </label>
  );
}

function Outcome({ answer }: { answer: ShownAnswer }) {
  const problems = answer.schema_problems;
  return (
    <>
      {answer.state === 'failed' && (
        <div className="arena-error" role="alert">
          <strong>{t('arena.failed')}</strong>
          <Foreign text={answer.error ?? ''} limit={2_000} />
        </div>
      )}
      {answer.state === 'stopped' && <p className="notice">{t('arena.stopped')}</p>}
      {(answer.tool_calls ?? []).map((call, index) => (
        <div key={index} className="arena-call small">
          <span className="muted">{t('arena.call')}</span>{' '}
          <Foreign
            text={`${call.name}(${JSON.stringify(call.arguments)})${call.problem ? ` · ${call.problem}` : ''}`}
          />
        </div>
      ))}
      {problems !== null && problems !== undefined && (
        <div className="small">
          {problems.length === 0 ? (
            <span className="good">{t('arena.fits')}</span>
          ) : (
            <div className="bad">
              {t('arena.breaks')} <Foreign text={problems.join('\n')} limit={2_000} />
            </div>
          )}
        </div>
      )}
    </>
  );
}

function FiguresOf({ answer, isGoing }: { answer: ShownAnswer; isGoing: boolean }) {
  const reason = isGoing ? t('arena.not-yet') : t('reason.not-said');
  const rate = answer.tokens_per_second;
  const figures: [TextKey, React.ReactNode][] = [
    ['arena.first-token', <Seconds key="f" value={answer.first_token_seconds} reason={reason} />],
    ['arena.latency', <Seconds key="l" value={answer.latency_seconds} reason={reason} />],
    [
      'arena.rate',
      rate === null || rate === undefined ? (
        <Seconds key="r" value={null} reason={reason} />
      ) : (
        <span key="r" title={`${rate} tokens/s`}>
          {significant(rate, 3)}/s
        </span>
      ),
    ],
    [
      'arena.tokens',
      answer.usage ? (
        <span key="t">
          {tokens(answer.usage.input_tokens)} → {tokens(answer.usage.output_tokens)}
        </span>
      ) : (
        <Seconds key="t" value={null} reason={reason} />
      ),
    ],
    [
      'arena.cost',
      isGoing ? (
        <Seconds key="c" value={null} reason={reason} />
      ) : (
        <Cost key="c" usd={answer.cost_usd ?? null} basis={answer.cost_basis ?? null} small />
      ),
    ],
  ];
  return (
    <dl className="arena-figures">
      {figures.map(([label, value]) => (
        <div key={label}>
          <dt>{t(label)}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const tokens = (count: number | null) => (count === null ? '?' : countText(count));
