/** One's own mark of a result, and what others said of it. */
import type { TrialResult } from '@/api/documents';
import { useLabels } from '@/api/results';
import { useSetLabel } from '@/api/review';
import { useMay, useSession } from '@/api/session';
import { useKeys } from '@/app/keys';
import { Button, Failure } from '@/components/Basics';
import { decimalText } from '@/numbers/rounding';
import { t } from '@/text/text';

export function OwnMark({ result }: { result: TrialResult }) {
  const { data: session } = useSession();
  const me = session?.user ?? 'local';
  const mayMark = useMay('run:write');
  const labels = useLabels(result.run_id);
  const label = useSetLabel(result.run_id);
  const said = (labels.data ?? []).filter((one) => one.result_id === result.result_id);
  const own = said.find((one) => one.author === me)?.value;
  const set = (value: number | null) => label.mutate({ result: result.result_id, value });
  useKeys(
    mayMark
      ? [
          { key: '1', label: `${t('samples.my-mark')}: ${t('review.right')}`, run: () => set(1) },
          { key: '0', label: `${t('samples.my-mark')}: ${t('review.wrong')}`, run: () => set(0) },
        ]
      : [],
  );
  const others = said.filter((one) => one.author !== me);
  if (!mayMark && others.length === 0) return null;
  return (
    <div className="own-mark no-print">
      {mayMark && (
        <>
          <span className="small muted">{t('samples.my-mark')}</span>
          <Button aria-pressed={own === 1} onClick={() => set(1)} shortcut="1">
            {t('review.right')}
          </Button>
          <Button aria-pressed={own === 0} onClick={() => set(0)} shortcut="0">
            {t('review.wrong')}
          </Button>
          {own !== undefined && (
            <Button kind="quiet" onClick={() => set(null)}>
              {t('samples.take-back')}
            </Button>
          )}
        </>
      )}
      {others.map((one) => (
        <span key={one.author} className="small muted">
          <bdi>{t('samples.people-said', { author: one.author, value: decimalText(one.value) })}</bdi>
        </span>
      ))}
      {label.error && <Failure error={label.error} />}
    </div>
  );
}
