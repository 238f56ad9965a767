/** Which answer is preferred: one key, and then who is who. */
import type { PlaygroundAsk } from '@/api/documents';
import { useAskAction } from '@/api/playground';
import { useSession } from '@/api/session';
import { useKeys, type KeyBinding } from '@/app/keys';
import { Button, Failure } from '@/components/Basics';
import { t } from '@/text/text';

export function Voting({ ask, hasKeys }: { ask: PlaygroundAsk; hasKeys: boolean }) {
  const vote = useAskAction(ask.ask_id, 'votes');
  const reveal = useAskAction(ask.ask_id, 'reveal');
  const me = useSession().data?.user ?? 'local';
  const came = ask.answers.filter((one) => one.state === 'complete');
  const hasVoted = ask.votes.some((one) => one.voter === me);
  const mayVote = came.length > 1 && !hasVoted && !vote.isPending;
  const prefer = (best: readonly string[]) => vote.mutate({ best });
  const [first, second] = came;
  const arrows: KeyBinding[] =
    first && second && came.length === 2
      ? [
          { key: 'ArrowLeft', label: t('arena.prefer', { name: nameOf(first) }), run: () => prefer([first.answer]) },
          { key: 'ArrowRight', label: t('arena.prefer', { name: nameOf(second) }), run: () => prefer([second.answer]) },
        ]
      : came.map((one, index) => ({
          key: String(index + 1),
          label: t('arena.prefer', { name: nameOf(one) }),
          run: () => prefer([one.answer]),
        }));
  useKeys(
    mayVote && hasKeys
      ? [
          ...arrows,
          { key: 't', label: t('arena.tie'), run: () => prefer(came.map((one) => one.answer)) },
          { key: '0', label: t('arena.all-bad'), run: () => prefer([]) },
        ]
      : [],
  );
  if (came.length < 2) return null;
  if (hasVoted) return <p className="muted small arena-vote">{t('arena.voted')}</p>;
  return (
    <div className="arena-vote" role="group" aria-label={t('arena.vote')}>
      <strong>{t('arena.vote')}</strong>
      <span className="buttons">
        {came.map((one, index) => (
          <Button
            key={one.answer}
            onClick={() => prefer([one.answer])}
            disabled={!mayVote}
            shortcut={came.length === 2 ? (index === 0 ? '←' : '→') : String(index + 1)}
          >
            {nameOf(one)}
          </Button>
        ))}
        <Button kind="quiet" onClick={() => prefer(came.map((one) => one.answer))} disabled={!mayVote} shortcut="t">
          {t('arena.tie')}
        </Button>
        <Button kind="quiet" onClick={() => prefer([])} disabled={!mayVote} shortcut="0">
          {t('arena.all-bad')}
        </Button>
        {!ask.is_revealed && (
          <Button kind="quiet" onClick={() => reveal.mutate({})} disabled={reveal.isPending}>
            {t('arena.reveal')}
          </Button>
        )}
      </span>
      {vote.error && <Failure error={vote.error} />}
    </div>
  );
}

const nameOf = (one: PlaygroundAsk['answers'][number]) =>
  one.model ?? t('arena.answer', { letter: one.answer.toUpperCase() });
