/** What becomes of an ask: a line of a benchmark's data, a plan to run, a template to run again. */
import { useState } from 'react';
import type { PlaygroundAsk, PlaygroundPlan, PlaygroundSample, SavedPlan } from '@/api/documents';
import { request } from '@/api/http';
import { useBenchmarks } from '@/api/queries';
import { useMay } from '@/api/session';
import { Button, Failure } from '@/components/Basics';
import { Dialog } from '@/components/Dialog';
import { Field, Select } from '@/components/Fields';
import { Foreign } from '@/components/Foreign';
import { Link } from '@/router/Link';
import { navigate, path } from '@/router/location';
import { writeDraft } from '@/screens/plan/draft';
import { t } from '@/text/text';

export function TurnInto({ ask }: { ask: PlaygroundAsk }) {
  const [shown, setShown] = useState<'sample' | 'plan' | null>(null);
  const [isCopied, setCopied] = useState(false);
  const mayWrite = useMay('run:write');
  const share = () => {
    const address = `${location.origin}${path`/arena/${ask.ask_id}`}`;
    void navigator.clipboard.writeText(address).then(() => setCopied(true));
  };
  return (
    <div className="buttons arena-turn no-print">
      <Button onClick={share}>{isCopied ? t('action.copied') : t('action.copy-link')}</Button>
      <Button onClick={() => setShown('sample')}>{t('arena.as-sample')}</Button>
      {mayWrite && <Button onClick={() => setShown('plan')}>{t('arena.as-plan')}</Button>}
      {shown === 'sample' && <SampleDialog ask={ask} close={() => setShown(null)} />}
      {shown === 'plan' && <PlanDialog ask={ask} close={() => setShown(null)} />}
    </div>
  );
}

function SampleDialog({ ask, close }: { ask: PlaygroundAsk; close: () => void }) {
  const [target, setTarget] = useState('');
  const [line, setLine] = useState('');
  const [error, setError] = useState<Error | null>(null);
  const make = async (then: (line: string) => unknown) => {
    try {
      const sample = await request<PlaygroundSample>(path`/playground/${ask.ask_id}/sample`, { query: { target } });
      const written = `${JSON.stringify(sample)}\n`;
      setLine(written);
      setError(null);
      await then(written);
    } catch (found) {
      setError(found as Error);
    }
  };
  const options = ask.answers
    .filter((one) => one.state === 'complete')
    .map((one) => [one.answer, one.model ?? t('arena.answer', { letter: one.answer.toUpperCase() })] as const);
  return (
    <Dialog title={t('arena.as-sample')} close={close}>
      <div className="arena-dialog">
        <h2>{t('arena.as-sample')}</h2>
        <p className="muted">{t('arena.sample.lead')}</p>
        <Field label={t('word.target')}>
          <Select value={target} change={setTarget} options={[['', t('arena.no-target')], ...options]} />
        </Field>
        <div className="buttons">
          <Button onClick={() => void make((text) => navigator.clipboard.writeText(text))}>{t('arena.copy')}</Button>
          <Button onClick={() => void make((text) => download(`${ask.ask_id}.jsonl`, text))}>
            {t('arena.download')}
          </Button>
        </div>
        {line !== '' && <Foreign text={line} limit={2_000} />}
        {error && <Failure error={error} />}
      </div>
    </Dialog>
  );
}

function download(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'application/x-ndjson' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

function PlanDialog({ ask, close }: { ask: PlaygroundAsk; close: () => void }) {
  const benchmarks = useBenchmarks().data ?? [];
  const [benchmark, setBenchmark] = useState('puzzles');
  const [name, setName] = useState('');
  const [saved, setSaved] = useState<SavedPlan | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const make = async (then: (plan: unknown) => unknown) => {
    try {
      const { plan } = await request<PlaygroundPlan>(path`/playground/${ask.ask_id}/plan`, { query: { benchmark } });
      setError(null);
      await then(plan);
    } catch (found) {
      setError(found as Error);
    }
  };
  const open = async (plan: unknown) => {
    const { stringify } = await import('yaml');
    writeDraft(stringify(plan));
    navigate('/plan');
  };
  const save = async (plan: unknown) => {
    setSaved(await request<SavedPlan>('/plans', { method: 'POST', body: { name: name.trim(), plan } }));
  };
  const names = benchmarks.map((one) => [one.name, one.name] as const);
  return (
    <Dialog title={t('arena.as-plan')} close={close}>
      <div className="arena-dialog">
        <h2>{t('arena.as-plan')}</h2>
        <p className="muted">{t('arena.plan.lead')}</p>
        <Field label={t('word.benchmark')}>
          <Select
            value={benchmark}
            change={setBenchmark}
            options={names.length > 0 ? names : [['puzzles', 'puzzles']]}
          />
        </Field>
        <div className="buttons">
          <Button kind="main" onClick={() => void make(open)}>
            {t('arena.open-plan')}
          </Button>
        </div>
        <Field label={t('arena.template-name')}>
          <input className="input" value={name} maxLength={200} onChange={(event) => setName(event.target.value)} />
        </Field>
        <div className="buttons">
          <Button onClick={() => void make(save)} disabled={name.trim() === ''}>
            {t('arena.save-template')}
          </Button>
          {saved !== null && <Link to={path`/plans/${saved.plan_id}/edit`}>{t('arena.saved')}</Link>}
        </div>
        {error && <Failure error={error} />}
      </div>
    </Dialog>
  );
}
