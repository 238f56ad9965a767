/** A plan from a sentence: what was understood, what was assumed, and what a plan cannot say. */
import { useState, type FormEvent } from 'react';
import { stringify } from 'yaml';
import type { PlanDraft } from '@/api/documents';
import { useDraft } from '@/api/queries';
import { Button, Section } from '@/components/Basics';
import { Field } from '@/components/Fields';
import { t } from '@/text/text';

export function Words({ take }: { take: (text: string) => void }) {
  const [query, setQuery] = useState('');
  const draft = useDraft();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    draft.mutate(query, { onSuccess: ({ plan }) => take(stringify(plan)) });
  };
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
        <Button type="submit" disabled={draft.isPending || query.trim() === ''}>
          {t('words.draft')}
        </Button>
      </form>
      {draft.error && (
        <p className="mark-wrong" role="alert">
          {draft.error.message}
        </p>
      )}
      {draft.data && <Reading draft={draft.data} />}
    </Section>
  );
}

function Reading({ draft }: { draft: PlanDraft }) {
  return (
    <ul className="plain-list small" aria-live="polite">
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
    </ul>
  );
}
