/** What is asked: models, a prompt or several, and whatever goes with it. Files are dropped, pasted or chosen. */
import { useRef, useState, type ClipboardEvent, type DragEvent, type KeyboardEvent } from 'react';
import { Button, Failure } from '@/components/Basics';
import { Field } from '@/components/Fields';
import { bytesText } from '@/numbers/text';
import { t, type TextKey } from '@/text/text';
import { History } from './History';
import { ModelChoice } from './ModelChoice';
import { readFile, type AskForm as Form, type SentFile } from './request';

interface Props {
  form: Form;
  change: (form: Form) => void;
  files: readonly SentFile[];
  changeFiles: (files: readonly SentFile[]) => void;
  ask: () => void;
  isAsking: boolean;
  mistake: string | null;
  error: Error | null;
  /** One came here to ask further: the prompt is what is typed next. */
  isNext: boolean;
}

export function AskForm({ form, change, files, changeFiles, ask, isAsking, mistake, error, isNext }: Props) {
  const [refused, setRefused] = useState<readonly string[]>([]);
  const [isOver, setOver] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const set = <Name extends keyof Form>(name: Name, value: Form[Name]) => change({ ...form, [name]: value });
  const take = async (given: readonly File[]) => {
    const read = await Promise.all(given.map(async (file) => [file.name, await readFile(file)] as const));
    setRefused(read.filter(([, found]) => found === null).map(([name]) => name));
    const taken = read.flatMap(([, found]) => (found === null ? [] : [found]));
    if (taken.length > 0) changeFiles([...files, ...taken]);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void take([...event.dataTransfer.files]);
  };
  const paste = (event: ClipboardEvent) => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    void take([...event.clipboardData.files]);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    ask();
  };
  return (
    <form
      className={isOver ? 'arena-form over' : 'arena-form'}
      aria-label={t('arena.ask')}
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={press}
      onPaste={paste}
      onDrop={drop}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
    >
      <ModelChoice chosen={form.models} change={(models) => set('models', models)} />
      <Field label={t('arena.prompt')}>
        <textarea
          className="input"
          rows={4}
          autoFocus={isNext}
          value={form.prompt}
          placeholder={t('arena.prompt.hint')}
          onChange={(event) => set('prompt', event.target.value)}
        />
      </Field>
      <FileList files={files} change={changeFiles} />
      <details open={hasMore(form)}>
        <summary>{t('arena.more')}</summary>
        <More form={form} set={set} />
      </details>
      <div className="buttons arena-send">
        <Button kind="main" onClick={ask} disabled={isAsking || form.models.length === 0} shortcut="⌘↵">
          {t('arena.ask')}
        </Button>
        <label className="check">
          <input type="checkbox" checked={form.isBlind} onChange={(event) => set('isBlind', event.target.checked)} />{' '}
          {t('arena.blind')} <kbd aria-hidden="true">b</kbd>
        </label>
        <Button kind="quiet" onClick={() => picker.current?.click()}>
          {t('arena.add-files')}
        </Button>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          accept="image/png,image/jpeg,image/webp,application/pdf,text/*"
          aria-label={t('arena.add-files')}
          onChange={(event) => {
            void take([...(event.target.files ?? [])]);
            event.target.value = '';
          }}
        />
        {form.models.length === 0 && <span className="muted">{t('arena.needs-model')}</span>}
      </div>
      {refused.length > 0 && (
        <p className="notice" role="status">
          {t('arena.refused', { names: refused.join(', ') })}
        </p>
      )}
      {mistake && (
        <p className="notice" role="alert">
          {t(`arena.mistake.${mistake}` as TextKey)}
        </p>
      )}
      {error && <Failure error={error} />}
    </form>
  );
}

const hasMore = (form: Form) =>
  form.history.length > 0 ||
  [form.system, form.temperature, form.maxTokens, form.costUsd, form.input, form.answerSchema, form.tools].some(
    (text) => text !== '',
  );

interface MoreProps {
  form: Form;
  set: <Name extends keyof Form>(name: Name, value: Form[Name]) => void;
}

function More({ form, set }: MoreProps) {
  const area = (name: 'system' | 'input' | 'inputSchema' | 'answerSchema' | 'tools', label: TextKey, isCode = true) => (
    <Field label={t(label)}>
      <textarea
        className={isCode ? 'input code' : 'input'}
        rows={3}
        spellCheck={!isCode}
        value={form[name]}
        onChange={(event) => set(name, event.target.value)}
      />
    </Field>
  );
  const number = (name: 'temperature' | 'maxTokens' | 'costUsd', label: TextKey) => (
    <Field label={t(label)}>
      <input
        className="input"
        inputMode="decimal"
        value={form[name]}
        onChange={(event) => set(name, event.target.value)}
      />
    </Field>
  );
  return (
    <div className="arena-more">
      <div className="wide-field">{area('system', 'arena.system', false)}</div>
      <div className="wide-field">
        <History turns={form.history} change={(turns) => set('history', turns)} />
      </div>
      {number('temperature', 'arena.temperature')}
      {number('maxTokens', 'arena.max-tokens')}
      {number('costUsd', 'arena.cost-limit')}
      {area('answerSchema', 'arena.answer-schema')}
      {area('tools', 'arena.tool-list')}
      {area('input', 'arena.input')}
      {area('inputSchema', 'arena.input-schema')}
    </div>
  );
}

function FileList({ files, change }: { files: readonly SentFile[]; change: (files: readonly SentFile[]) => void }) {
  if (files.length === 0) return null;
  return (
    <ul className="arena-files" aria-label={t('arena.files')}>
      {files.map((file, index) => (
        <li key={`${index}${file.name}`} className="tag">
          <bdi>{file.name}</bdi> {bytesText(file.bytes)}{' '}
          <button
            type="button"
            className="bare"
            aria-label={t('arena.remove', { name: file.name })}
            onClick={() => change(files.filter((_, place) => place !== index))}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}
