/** Runs that are being deleted, on whichever screen one is meanwhile. */
import { deleteNow, forgetDeletion, UNDO_SECONDS, useDeletions, type Deletion } from '@/api/deletions';
import { Button, Failure } from '@/components/Basics';
import { t } from '@/text/text';
import { useKeys } from './keys';

export function Deletions() {
  const deletions = useDeletions();
  const last = deletions.filter((one) => one.state === 'waiting').at(-1);
  useKeys(last ? [{ key: 'u', label: t('plan.undo'), run: () => forgetDeletion(last.run) }] : []);
  return (
    <div role="status" className="deletions no-print">
      {deletions.map((one) => (
        <div key={one.run} className="notice">
          <Shown deletion={one} />
        </div>
      ))}
    </div>
  );
}

function Shown({ deletion: { run, name, state, namedBy, error } }: { deletion: Deletion }) {
  if (state === 'waiting')
    return (
      <>
        <p>{t('delete.waits', { name, n: UNDO_SECONDS })}</p>
        <div className="buttons">
          <Button shortcut="u" onClick={() => forgetDeletion(run)}>
            {t('plan.undo')}
          </Button>
          <Button kind="quiet" onClick={() => void deleteNow(run)}>
            {t('delete.now')}
          </Button>
        </div>
      </>
    );
  if (state === 'asked') return <p>{t('delete.asked', { name })}</p>;
  return (
    <>
      {error ? (
        <Failure error={error} />
      ) : (
        <p>
          {t('plan.deleted', { name })}
          {namedBy.length > 0 && ` ${t('delete.named-by', { runs: namedBy.join(', ') })}`}
        </p>
      )}
      <div className="buttons">
        <Button kind="quiet" onClick={() => forgetDeletion(run)}>
          {t('delete.seen')}
        </Button>
      </div>
    </>
  );
}
