/** Keeping the plan on the server under a name, and the plans that are kept there. */
import { useState } from 'react';
import type { SavedPlan } from '@/api/documents';
import { useDeletePlan, useSavedPlans, useSavePlan } from '@/api/savedPlans';
import { useMay } from '@/api/session';
import { Ago } from '@/components/Ago';
import { Button, Failure, Loaded, Section } from '@/components/Basics';
import { Field } from '@/components/Fields';
import { VisibleText } from '@/components/Foreign';
import { Link } from '@/router/Link';
import { navigate, path } from '@/router/location';
import { t } from '@/text/text';
import { clearSaved, readDraft, writeDraft } from './draft';
import { readPlan } from './planText';

interface SavingProps {
  text: string;
  /** The saved plan that is open; null for one that is not saved yet. */
  of: SavedPlan | null;
  /** The text changes a revision that is not the newest: it may be saved as a new plan only. */
  isBehind: boolean;
}

export function Saving({ text, of, isBehind }: SavingProps) {
  const [name, setName] = useState(of?.name ?? '');
  const save = useSavePlan((saved, change) => {
    clearSaved(change.text, of?.plan_id ?? null);
    // What was typed while it was saved changes what was saved.
    const typed = of?.plan_id === saved.plan_id ? readDraft(saved.plan_id) : null;
    if (typed !== null) writeDraft(typed.text, saved.plan_id, saved.revision);
    if (saved.plan_id !== of?.plan_id) navigate(path`/plans/${saved.plan_id}/edit`);
  });
  const plan = readPlan(text);
  const keep = (place: SavedPlan | null) => {
    if ('mistakes' in plan) return;
    save.mutate({ name: name.trim(), text, plan: plan.value, of: place });
  };
  const isOff = save.isPending || name.trim() === '' || 'mistakes' in plan;
  return (
    <div className="plan-saving">
      <Field label={t('plan.name')}>
        <input className="input" maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
      </Field>
      <div className="buttons">
        <Button onClick={() => keep(of)} disabled={isOff || isBehind}>
          {save.isSuccess ? t('plan.saved') : t('plan.save')}
        </Button>
        {of !== null && (
          <Button kind="quiet" onClick={() => keep(null)} disabled={isOff}>
            {t('plan.save-as-new')}
          </Button>
        )}
      </div>
      {save.error && <Failure error={save.error} />}
    </div>
  );
}

export function SavedPlans({ open }: { open: string | null }) {
  const found = useSavedPlans();
  const remove = useDeletePlan();
  const restore = useSavePlan(() => remove.reset());
  const failed = remove.error ?? restore.error;
  const mayWrite = useMay('run:write');
  return (
    <Section title={t('plan.saved-plans')} note={t('plan.saved-plans.note')}>
      <Loaded query={found} lines={2}>
        {(data) => {
          const all = data.pages.flatMap((page) => page.items);
          if (all.length === 0) return <p className="muted">{t('plan.saved-plans.none')}</p>;
          return (
            <ul className="plan-saved">
              {all.map((one) => (
                <li key={one.plan_id} aria-current={one.plan_id === open ? 'true' : undefined}>
                  <Link to={path`/plans/${one.plan_id}/edit`}>
                    <bdi>
                      <VisibleText text={one.name} />
                    </bdi>
                  </Link>
                  <span className="muted small">
                    <bdi>{one.author}</bdi> · <Ago when={one.updated_at} />
                  </span>
                  {mayWrite && (
                    <Button
                      kind="quiet"
                      aria-label={t('plan.delete', { name: one.name })}
                      disabled={remove.isPending || one.plan_id === open}
                      onClick={() => remove.mutate(one)}
                    >
                      {t('settings.remove')}
                    </Button>
                  )}
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
      {found.hasNextPage && <Button onClick={() => void found.fetchNextPage()}>{t('plan.older')}</Button>}
      {remove.isSuccess && (
        <p role="status">
          {t('plan.deleted', { name: remove.variables.name })}{' '}
          <Button
            kind="quiet"
            disabled={restore.isPending}
            onClick={() =>
              restore.mutate({ name: remove.variables.name, text: '', plan: remove.variables.plan, of: null })
            }
          >
            {t('plan.undo')}
          </Button>
        </p>
      )}
      {failed && <Failure error={failed} />}
    </Section>
  );
}
