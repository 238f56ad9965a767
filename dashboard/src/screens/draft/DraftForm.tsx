/** From which document, by which models, and of which kind. */
import { useEffect, useId, useRef, useState, type FormEvent } from 'react';
import { useReadPassages, type DraftKind } from '@/api/benchmarkDrafts';
import { useKnownModels } from '@/api/playground';
import { Button, Failure, Section } from '@/components/Basics';
import { Field, Select } from '@/components/Fields';
import { t } from '@/text/text';
import type { Settings } from './state';

const KINDS: readonly DraftKind[] = ['qa', 'choice', 'true-false'];

interface FormProps {
  /** What it begins with. */
  given: Settings;
  begin: (document: string, passages: readonly string[], settings: Settings) => void;
}

export function DraftForm({ given, begin }: FormProps) {
  const [settings, setSettings] = useState(given);
  const [file, setFile] = useState<File | null>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const read = useReadPassages((found) => begin(found.name, found.passages, settings));
  const set = (name: keyof Settings) => (value: string) => setSettings({ ...settings, [name]: value });
  const isReady = file !== null && settings.writer.trim() !== '' && settings.checker.trim() !== '';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (file) read.mutate(file);
  };
  return (
    <Section title={t('draft.document')} note={t('draft.document.note')}>
      <form className="draft-form" onSubmit={submit}>
        <div className="buttons">
          <Button onClick={() => chooser.current?.click()}>{t('draft.choose')}</Button>
          {file && <bdi>{file.name}</bdi>}
          <input
            ref={chooser}
            type="file"
            hidden
            accept=".txt,.md,.pdf"
            aria-label={t('draft.choose')}
            onChange={(event) => setFile(event.target.files?.[0] ?? null)}
          />
        </div>
        <div className="draft-fields">
          <ModelField label={t('draft.writer')} value={settings.writer} change={set('writer')} />
          <ModelField label={t('draft.checker')} value={settings.checker} change={set('checker')} />
          <ModelField label={t('draft.pilots')} value={settings.pilots} change={set('pilots')} />
          <Field label={t('draft.kind')}>
            <Select
              value={settings.kind}
              change={(kind) => setSettings({ ...settings, kind: kind as DraftKind })}
              options={KINDS.map((kind) => [kind, t(`draft.kind.${kind}`)] as const)}
            />
          </Field>
          <Field label={t('draft.wanted')}>
            <input
              className="input"
              type="number"
              min={1}
              max={500}
              required
              value={settings.count}
              onChange={(event) => set('count')(event.target.value)}
            />
          </Field>
          <Field label={t('draft.cost-limit')}>
            <input
              className="input"
              type="number"
              min={0}
              step="any"
              value={settings.costLimit}
              onChange={(event) => set('costLimit')(event.target.value)}
            />
          </Field>
        </div>
        <p className="muted small">{t('draft.how')}</p>
        <div className="buttons">
          <Button kind="main" type="submit" disabled={!isReady || read.isPending}>
            {t('words.draft')}
          </Button>
          {read.isPending && <span className="muted">{t('own.reading')}</span>}
        </div>
      </form>
      {read.error && <Failure error={read.error} />}
    </Section>
  );
}

const PAUSE_MS = 200;

/** A model by its name, with those of the catalogue that fit what is typed. */
function ModelField({ label, value, change }: { label: string; value: string; change: (value: string) => void }) {
  const id = useId();
  const [asked, setAsked] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setAsked(value.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  const found = useKnownModels(asked).data ?? [];
  return (
    <Field label={label}>
      <input
        className="input"
        list={id}
        autoComplete="off"
        spellCheck={false}
        maxLength={500}
        value={value}
        onChange={(event) => change(event.target.value)}
      />
      <datalist id={id}>
        {found.map(({ model }) => (
          <option key={model} value={model} />
        ))}
      </datalist>
    </Field>
  );
}

/** What the draft is made with, while it goes on. */
export function Chosen({ settings }: { settings: Settings }) {
  const facts = [
    [t('draft.kind'), t(`draft.kind.${settings.kind}`)],
    [t('draft.writer'), settings.writer],
    [t('draft.checker'), settings.checker],
    ...(settings.pilots.trim() === '' ? [] : [[t('draft.pilots'), settings.pilots]]),
  ];
  return (
    <dl className="facts draft-chosen">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt className="muted small">{name}</dt>
          <dd>
            <bdi>{value}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}
