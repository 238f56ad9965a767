/** A plan as YAML: checked by the server while one types, estimated, and run. */
import { lazy, Suspense, useEffect, useState } from 'react';
import type { DryRun } from '@/api/documents';
import { ProblemError } from '@/api/http';
import { useEstimate, useStartRun } from '@/api/queries';
import { useKeys } from '@/app/keys';
import { Button, Failure, Loading, PageHead, Section } from '@/components/Basics';
import { navigate, path, useParameters } from '@/router/location';
import { t } from '@/text/text';
import { EstimateTable } from './EstimateTable';
import { clearDraft, readDraft, writeDraft } from './draft';
import { readPlan, type Mistake } from './planText';
import { planFor } from './starters';
import { Words } from './Words';
import './plan.css';

const PlanEditor = lazy(() => import('./PlanEditor'));
const PAUSE_MS = 600;

export default function PlanScreen() {
  const [parameters] = useParameters();
  const [text, setText] = useState(() =>
    parameters.get('benchmark') ? planFor(parameters.get('benchmark')) : (readDraft() ?? planFor(null)),
  );
  const { estimate, mistakes, error, isAsking } = useChecked(text);
  const [edition, setEdition] = useState(0);
  const start = useStartRun();
  const edit = (next: string) => {
    setText(next);
    writeDraft(next);
  };
  const run = () => {
    const plan = readPlan(text);
    if ('mistakes' in plan) return;
    start.mutate(plan.value, {
      onSuccess: ({ run_id }) => {
        clearDraft();
        navigate(path`/runs/${run_id}`);
      },
    });
  };
  useKeys([]);
  const canRun = mistakes.length === 0 && error === null && !start.isPending;
  return (
    <>
      <PageHead trail={t('nav.plan')} title={t('plan.title')} lead={t('plan.lead')} />
      <Words
        text={text}
        take={(next) => {
          edit(next);
          setEdition((before) => before + 1);
        }}
      />
      <div className="plan">
        <Section title={t('plan.file')} note={t('plan.kept')}>
          <Suspense fallback={<Loading lines={9} />}>
            <PlanEditor key={edition} text={text} change={edit} mistakes={mistakes} run={run} />
          </Suspense>
          <ul className="mistakes" aria-live="polite">
            {mistakes.map((one) => (
              <li key={`${one.from}${one.message}`}>
                <span className="muted">{t('plan.line', { n: one.line })}</span> {one.message}
              </li>
            ))}
          </ul>
        </Section>
        <Section title={t('plan.estimate')} note={isAsking ? t('plan.asking') : undefined}>
          {error && <Failure error={error} />}
          {estimate && mistakes.length === 0 ? (
            <EstimateTable estimate={estimate} />
          ) : (
            <p className="muted">{t('plan.no-estimate')}</p>
          )}
          <div className="buttons">
            <Button kind="main" onClick={run} disabled={!canRun} shortcut="⌘⇧↵">
              {t('plan.run')}
            </Button>
          </div>
          {start.error && <Failure error={start.error} />}
        </Section>
      </div>
    </>
  );
}

interface Checked {
  estimate: DryRun | null;
  mistakes: readonly Mistake[];
  error: Error | null;
  isAsking: boolean;
}

/** What the server says of the text, once typing pauses: its mistakes in their places, or what a run would cost. */
function useChecked(text: string): Checked {
  const { mutate, data, error, isPending } = useEstimate();
  const [asked, setAsked] = useState('');
  useEffect(() => {
    const plan = readPlan(text);
    if ('mistakes' in plan) return;
    const timer = setTimeout(() => {
      setAsked(text);
      mutate(plan.value);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, mutate]);
  const plan = readPlan(text);
  if ('mistakes' in plan) return { estimate: null, mistakes: plan.mistakes, error: null, isAsking: false };
  const isCurrent = asked === text;
  if (error instanceof ProblemError && error.status === 422) {
    const found = error.errors.length > 0 ? error.errors : [{ pointer: '', detail: error.detail }];
    return {
      estimate: null,
      mistakes: isCurrent ? found.map((one) => plan.locate(one.pointer, one.detail)) : [],
      error: null,
      isAsking: isPending,
    };
  }
  return { estimate: data ?? null, mistakes: [], error, isAsking: isPending || !isCurrent };
}
