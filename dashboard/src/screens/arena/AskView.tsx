/** One ask and its answers side by side, as they grow; votes; what changed since the ask before. */
import { useMemo, useState } from 'react';
import { AnswerFormSwitch } from '@/answers/Answer';
import { useQueryClient } from '@tanstack/react-query';
import type { PlaygroundAnswer, PlaygroundAsk } from '@/api/documents';
import { useAskAction, useGrowingAnswers, useStoredAsk, type Growing } from '@/api/playground';
import { useMay } from '@/api/session';
import { Button, Failure, Loaded, Section } from '@/components/Basics';
import { Foreign } from '@/components/Foreign';
import { path } from '@/router/location';
import { t, plural, type TextKey } from '@/text/text';
import { AnswerColumn } from './AnswerColumn';
import { changedFields, type Turn } from './request';
import { TurnInto } from './TurnInto';
import { Voting } from './Voting';

interface Props {
  ask: string;
  before: string | null;
  isFirst: boolean;
  /** Whether the page's title is its prompt. */
  isTitled: boolean;
}

const continueLink = (ask: string, answer: string) => path`/arena/${ask}` + `?from=${answer}`;

const TITLE_LENGTH = 110;

/** The prompt's first line; empty where it is too long to stand above a page. */
export function titleOf(ask: PlaygroundAsk | undefined): string {
  const prompt = String((ask?.request as { prompt?: string } | undefined)?.prompt ?? '').trim();
  return prompt.length > TITLE_LENGTH || prompt.includes('\n') ? '' : prompt;
}

export function AskView({ ask, before, isFirst, isTitled }: Props) {
  const query = useStoredAsk(ask);
  return (
    <Loaded query={query} isPage>
      {(found) => <Answers ask={found} before={before} isFirst={isFirst} isTitled={isTitled} />}
    </Loaded>
  );
}

/** `place` is that of the model in the request; null where letters were drawn. */
export type ShownAnswer = Growing & { answer: string; model: string | null; place: number | null };

function Answers({ ask, before, isFirst, isTitled }: Omit<Props, 'ask'> & { ask: PlaygroundAsk }) {
  const client = useQueryClient();
  const mayAsk = useMay('run:write');
  // Whether it was still going when it was opened: its answers are then those of the stream, until all of it is read anew.
  const [wasGoing] = useState(!ask.is_finished);
  const growing = useGrowingAnswers(ask.ask_id, wasGoing && !ask.is_finished, () => {
    void client.invalidateQueries({ queryKey: ['ask', ask.ask_id] });
  });
  const stop = useAskAction(ask.ask_id, 'stop');
  const answers = ask.answers.map((stored, place) => shownAnswer(ask, stored, growing[stored.answer], place));
  const going = answers.filter((one) => one.state === 'waiting' || one.state === 'streaming').length;
  return (
    <Section
      title={going > 0 ? t('arena.answering') : t('arena.answers')}
      note={going > 0 ? plural('arena.going', going) : undefined}
      tools={
        mayAsk && going > 0 ? (
          <Button kind="quiet" onClick={() => stop.mutate({})}>
            {t('arena.stop-all')}
          </Button>
        ) : undefined
      }
    >
      <AskedPrompt ask={ask} isTitled={isTitled} />
      {before !== null && <Changed ask={ask} before={before} />}
      <AnswerFormSwitch />
      <div className="arena-columns" role="list" aria-label={t('arena.answers')}>
        {answers.map((one) => (
          <AnswerColumn
            key={one.answer}
            answer={one}
            isHidden={!ask.is_revealed}
            isBest={ask.votes.some((vote) => vote.best.includes(one.answer))}
            before={before}
            goOn={mayAsk && ask.is_finished && one.text !== '' ? continueLink(ask.ask_id, one.answer) : null}
            stop={mayAsk ? () => stop.mutate({ answers: [one.answer] }) : null}
          />
        ))}
      </div>
      {stop.error && <Failure error={stop.error} />}
      {mayAsk && ask.is_finished && <Voting ask={ask} hasKeys={isFirst} />}
      {ask.is_finished && <TurnInto ask={ask} />}
    </Section>
  );
}

function shownAnswer(
  ask: PlaygroundAsk,
  stored: PlaygroundAnswer,
  grown: Growing | undefined,
  place: number,
): ShownAnswer {
  const found = ask.is_finished || grown === undefined ? stored : { ...stored, ...grown };
  return { ...found, answer: stored.answer, model: found.model ?? null, place: ask.is_blind ? null : place };
}

function AskedPrompt({ ask, isTitled }: { ask: PlaygroundAsk; isTitled: boolean }) {
  const asked = ask.request as { prompt?: string; system?: string; history?: readonly Turn[] };
  const history = asked.history ?? [];
  const prompt = isTitled && titleOf(ask) !== '' ? '' : (asked.prompt ?? '');
  const hasMore =
    (asked.system ?? '') !== '' || ask.kind === 'structured' || ask.view.files.length > 0 || history.length > 0;
  if (prompt === '' && !hasMore) return null;
  return (
    <div className="arena-asked">
      {asked.system !== undefined && asked.system !== '' && (
        <div className="muted small">
          <Foreign text={asked.system} limit={400} />
        </div>
      )}
      {history.length > 0 && (
        <details className="small">
          <summary>{plural('arena.turns', history.length)}</summary>
          {history.map((turn, place) => (
            <div key={place} className="arena-said">
              <span className="muted">{t(`arena.role.${turn.role}`)}</span>
              <Foreign text={turn.text} limit={4_000} />
            </div>
          ))}
        </details>
      )}
      {prompt !== '' && <Foreign text={prompt} limit={2_000} />}
      {ask.kind === 'structured' && <Foreign text={JSON.stringify(ask.view.input, null, 2)} limit={2_000} />}
      {ask.view.files.length > 0 && (
        <ul className="arena-files">
          {ask.view.files.map((file) => (
            <li key={file.position}>
              <AskedFile ask={ask.ask_id} file={file} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function AskedFile({ ask, file }: { ask: string; file: PlaygroundAsk['view']['files'][number] }) {
  const address = `/api/v1/playground/${encodeURIComponent(ask)}/files/${file.position}`;
  if (file.media_type.startsWith('image/'))
    return (
      <a href={address}>
        <img src={address} alt={file.name} className="arena-image" />
      </a>
    );
  return (
    <a href={address} className="tag">
      <bdi>{file.name}</bdi>
      {file.pages !== null && ` · ${plural('arena.pages', file.pages)}`}
    </a>
  );
}

const FIELD_NAMES: Readonly<Record<string, TextKey>> = {
  models: 'word.models',
  prompt: 'arena.prompt',
  system: 'arena.system',
  temperature: 'arena.temperature',
  maxTokens: 'arena.max-tokens',
  costUsd: 'arena.cost-limit',
  input: 'arena.input',
  inputSchema: 'arena.input-schema',
  answerSchema: 'arena.answer-schema',
  tools: 'arena.tool-list',
  history: 'arena.history',
  isBlind: 'arena.blind',
};

/** What was asked otherwise than before: answers below show the words that differ. */
function Changed({ ask, before }: { ask: PlaygroundAsk; before: string }) {
  const earlier = useStoredAsk(before).data;
  const fields = useMemo(() => (earlier ? changedFields(earlier, ask) : []), [earlier, ask]);
  if (!earlier) return null;
  const names = fields.map((name) => t(FIELD_NAMES[name] ?? 'arena.prompt')).join(', ');
  return (
    <p className="muted small arena-changed">{names === '' ? t('arena.repeated') : t('arena.changed', { names })}</p>
  );
}
