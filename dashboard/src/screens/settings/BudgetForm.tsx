import { useState } from 'react';
import type { ListedBudget } from '@/api/documents';
import { Button } from '@/components/Basics';
import { Field, Select } from '@/components/Fields';
import { t } from '@/text/text';

const KINDS = ['project', 'user', 'key'] as const;
const PERIODS = ['day', 'month', 'total'] as const;

interface BudgetFormProps {
  /** The budget that is changed; null for a new one. */
  of: ListedBudget | null;
  isBusy: boolean;
  set: (kind: string, subject: string, body: Readonly<Record<string, string | number>>) => void;
}

/** What a project, a user or a key may spend; what is left empty has no limit. */
export function BudgetForm({ of, isBusy, set }: BudgetFormProps) {
  const [kind, setKind] = useState<string>(of?.kind ?? 'project');
  const [subject, setSubject] = useState(of?.subject ?? '');
  const [cost, setCost] = useState(of?.cost_usd == null ? '' : String(Number(of.cost_usd)));
  const [per, setPer] = useState<string>(of?.per ?? 'month');
  const [runs, setRuns] = useState(of?.runs_at_once == null ? '' : String(of.runs_at_once));
  return (
    <form
      className="filters add-row"
      onSubmit={(event) => {
        event.preventDefault();
        set(kind, subject, {
          per,
          ...(cost === '' ? {} : { cost_usd: Number(cost) }),
          ...(runs === '' ? {} : { runs_at_once: Number(runs) }),
          // The form does not show what files may take: it stays as it is.
          ...(of?.storage_bytes == null ? {} : { storage_bytes: of.storage_bytes }),
        });
      }}
    >
      <Field label={t('budget.kind')}>
        <Select value={kind} change={setKind} options={KINDS.map((one) => [one, t(`budget.kind.${one}`)])} />
      </Field>
      <Field label={t('budget.name')}>
        <input className="input" required value={subject} onChange={(event) => setSubject(event.target.value)} />
      </Field>
      <Field label={t('budget.cost')}>
        <input
          className="input"
          type="number"
          min={0}
          step="any"
          value={cost}
          onChange={(event) => setCost(event.target.value)}
        />
      </Field>
      <Field label={t('budget.per')}>
        <Select value={per} change={setPer} options={PERIODS.map((one) => [one, t(`budget.per.${one}`)])} />
      </Field>
      <Field label={t('budget.runs')}>
        <input
          className="input"
          type="number"
          min={0}
          step={1}
          value={runs}
          onChange={(event) => setRuns(event.target.value)}
        />
      </Field>
      <Button type="submit" disabled={isBusy}>
        {t('budget.set')}
      </Button>
    </form>
  );
}
