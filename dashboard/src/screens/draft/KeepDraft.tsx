/** The draft becomes a benchmark of the project's own. */
import { useState, type FormEvent } from 'react';
import { useKeepDraft } from '@/api/benchmarkDrafts';
import { Button, Failure, Section } from '@/components/Basics';
import { Field } from '@/components/Fields';
import { countText } from '@/numbers/text';
import { navigate, path } from '@/router/location';
import { t } from '@/text/text';
import { accepted, type BenchmarkDraft } from './state';

/** What a benchmark may be called, made of a document's name. */
const nameOf = (document: string) =>
  document
    .toLowerCase()
    .replace(/\.[a-z]+$/, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60);

export function KeepDraft({ draft, done }: { draft: BenchmarkDraft; done: () => void }) {
  const [name, setName] = useState(nameOf(draft.document));
  const [version, setVersion] = useState('1');
  const save = useKeepDraft(done);
  const left = accepted(draft).filter((one) => one.review !== 'dropped').length;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(
      { name, version, document: draft.document, samples: draft.samples },
      { onSuccess: (kept) => navigate(path`/benchmarks/${kept.reference}`) },
    );
  };
  return (
    <Section title={t('draft.save')} note={t('draft.save.note', { n: countText(left) })}>
      <form className="filters" onSubmit={submit}>
        <Field label={t('settings.name')}>
          <input
            className="input"
            required
            pattern="[a-z0-9][a-z0-9._\-]*"
            maxLength={80}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </Field>
        <Field label={t('draft.version')}>
          <input
            className="input"
            required
            pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
            maxLength={50}
            value={version}
            onChange={(event) => setVersion(event.target.value)}
          />
        </Field>
        <Button kind="main" type="submit" disabled={left === 0 || save.isPending}>
          {t('plan.save')}
        </Button>
      </form>
      {save.error && <Failure error={save.error} />}
    </Section>
  );
}
