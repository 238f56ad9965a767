/** A plan from a sentence: what was understood, what was assumed, what has no data, and what else it could mean. */
import { useState, type FormEvent } from 'react';
import { stringify } from 'yaml';
import type { PlanDraft } from '@/api/documents';
import { useDraft } from '@/api/queries';
import { Button, Section } from '@/components/Basics';
import { Field } from '@/components/Fields';
import { t } from '@/text/text';
import { readPlan, takenText } from './planText';

interface WordsProps {
  /** The plan below, which a sentence may change. */
  text: string;
  take: (text: string) => void;
}

export function Words({ text, take }: WordsProps) {
  const [query, setQuery] = useState('');
  const draft = useDraft();
  const plan = readPlan(text);
  const ask = (base?: unknown) =>
    draft.mutate({ query, base }, { onSuccess: ({ plan: drafted }) => take(stringify(drafted)) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    ask();
  };
  const isOff = draft.isPending || query.trim() === '';
  return (
    <Section title={t('words.title')} note={t('words.note')}>
      <form className="words" onSubmit={submit}>
        <Field label={t('words.query')}>
          <input
            className="input"
            required
            maxLength={4000}
            placeholder={t('words.example')}
            value={query}
            onChange={(event) => setQuery(event.target.value)}
          />
        </Field>
        <Button type="submit" disabled={isOff}>
          {t('words.draft')}
        </Button>
        <Button disabled={isOff || 'mistakes' in plan} onClick={() => ask('mistakes' in plan ? undefined : plan.value)}>
          {t('words.change')}
        </Button>
      </form>
      {draft.error && (
        <p className="mark-wrong" role="alert">
          {draft.error.message}
        </p>
      )}
      {draft.data && <Reading draft={draft.data} take={take} />}
    </Section>
  );
}

function Reading({ draft, take }: { draft: PlanDraft; take: (text: string) => void }) {
  return (
    <>
      {draft.gaps.map((gap) => (
        <p key={gap.sentence} className="mark-wrong" role="alert">
          {t('words.gap')} {gap.sentence}
        </p>
      ))}
      <ul className="plain-list small" aria-live="polite">
        {(draft.changes ?? []).map((one) => (
          <li key={one.field}>
            <code>{one.field}</code>: {shown(one.before)} → {shown(one.after)}
          </li>
        ))}
        {draft.understood.map((one, index) => (
          <li key={`u${index}`}>
            “{one.text}” → <code>{one.field}</code>
          </li>
        ))}
        {draft.assumed.map((one, index) => (
          <li key={`a${index}`} className="muted">
            {t('words.assumed')} <code>{one.field}</code>: {one.why}
          </li>
        ))}
        {draft.not_understood.map((one) => (
          <li key={one} className="mark-invalid">
            {t('words.not-understood')} “{one}”
          </li>
        ))}
        {draft.unsupported.map((one, index) => (
          <li key={`s${index}`} className="mark-invalid">
            “{one.text}”: {one.why}
          </li>
        ))}
        {draft.alternatives.map((plan, index) => (
          <li key={`o${index}`}>
            {t('words.or-perhaps')} <code>{stringify(benchmarksOf(plan)).trim()}</code>{' '}
            <Button onClick={() => take(takenText(plan))}>{t('words.take')}</Button>
          </li>
        ))}
      </ul>
    </>
  );
}

const shown = (value: unknown): string => (value === null || value === undefined ? '–' : JSON.stringify(value));

/** The names of a plan's benchmarks. */
function benchmarksOf(plan: Record<string, unknown>): string[] {
  const listed: readonly unknown[] = Array.isArray(plan['benchmarks']) ? plan['benchmarks'] : [];
  return listed.map((one) => {
    const named = typeof one === 'object' && one !== null && 'benchmark' in one ? one.benchmark : one;
    return String(named);
  });
}
