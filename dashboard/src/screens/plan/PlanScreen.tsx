/** A plan as YAML: checked by the server while one types, estimated, and run. */
import { lazy, Suspense, useEffect, useState } from 'react';
import { stringify } from 'yaml';
import type { DryRun, SavedPlan } from '@/api/documents';
import { ProblemError } from '@/api/http';
import { useSavedPlan } from '@/api/savedPlans';
import type { Parameters } from '@/app/routes';
import { VisibleText } from '@/components/Foreign';
import { Link } from '@/router/Link';
import { useEstimate, useStartRun } from '@/api/queries';
import { useMay } from '@/api/session';
import { useKeys } from '@/app/keys';
import { Button, Failure, Loaded, Loading, PageHead, Section } from '@/components/Basics';
import { navigate, path, useParameters } from '@/router/location';
import { t } from '@/text/text';
import { EstimateTable } from './EstimateTable';
import { clearDraft, readDraft, writeDraft } from './draft';
import { readPlan, type Mistake } from './planText';
import { SavedPlans, Saving } from './SavedPlans';
import { planFor } from './starters';
import { Words } from './Words';
import './plan.css';

const PlanEditor = lazy(() => import('./PlanEditor'));
const PAUSE_MS = 600;

export default function PlanScreen({ parameters }: { parameters: Parameters }) {
  const plan = parameters['plan'] ?? null;
  const saved = useSavedPlan(plan);
  if (plan === null) return <Edited saved={null} />;
  return (
    <Loaded isPage query={saved}>
      {(found) => <Edited key={`${found.plan_id} ${found.revision}`} saved={found} />}
    </Loaded>
  );
}

/** What was typed and not saved stands before what is saved. */
const firstText = (saved: SavedPlan | null, benchmark: string | null) => {
  if (saved !== null) return readDraft(saved.plan_id)?.text ?? stringify(saved.plan);
  return benchmark ? planFor(benchmark) : (readDraft()?.text ?? planFor(null));
};

/** The draft changes a revision that is not the newest any more: somebody has saved the plan since. */
const isOutdated = (saved: SavedPlan | null) => {
  const draft = saved === null ? null : readDraft(saved.plan_id);
  return draft !== null && draft.revision !== saved?.revision;
};

function Edited({ saved }: { saved: SavedPlan | null }) {
  const [parameters] = useParameters();
  const place = saved?.plan_id ?? null;
  const [text, setText] = useState(() => firstText(saved, parameters.get('benchmark')));
  const isChanged = saved !== null && text !== stringify(saved.plan);
  const { estimate, mistakes, error, isAsking } = useChecked(text);
  const [edition, setEdition] = useState(0);
  const [isBehind, setBehind] = useState(() => isOutdated(saved));
  const start = useStartRun();
  const mayRun = useMay('run:write');
  const edit = (next: string) => {
    setText(next);
    // One that is behind stays so, until somebody says which text is to be kept.
    writeDraft(next, place, isBehind ? (readDraft(place)?.revision ?? null) : (saved?.revision ?? null));
  };
  const keepMine = () => {
    writeDraft(text, place, saved?.revision ?? null);
    setBehind(false);
  };
  const takeTheirs = () => {
    clearDraft(place);
    setText(stringify(saved?.plan));
    setEdition((before) => before + 1);
    setBehind(false);
  };
  const run = () => {
    const plan = readPlan(text);
    if ('mistakes' in plan || !mayRun) return;
    // What was changed and not saved is not that plan.
    const started = { plan: plan.value, saved: saved === null || isChanged ? null : saved.plan_id };
    start.mutate(started, {
      onSuccess: ({ run_id }) => {
        if (saved === null) clearDraft();
        navigate(path`/runs/${run_id}`);
      },
    });
  };
  useKeys([]);
  const canRun = mistakes.length === 0 && error === null && !start.isPending;
  return (
    <>
      <PageHead
        trail={saved === null ? t('nav.plan') : <Link to="/plan">{t('nav.plan')}</Link>}
        title={saved === null ? t('plan.title') : <VisibleText text={saved.name} />}
        lead={t('plan.lead')}
      />
      {isBehind && (
        <div className="state" role="alert">
          <p>{t('plan.behind')}</p>
          <div className="buttons">
            <Button onClick={takeTheirs}>{t('plan.take-newer')}</Button>
            <Button onClick={keepMine}>{t('plan.keep-mine')}</Button>
          </div>
        </div>
      )}
      <Words
        text={text}
        take={(next) => {
          edit(next);
          setEdition((before) => before + 1);
        }}
      />
      <div className="plan">
        <Section
          title={t('plan.file')}
          note={t(saved === null ? 'plan.kept' : isChanged ? 'plan.unsaved' : 'plan.as-saved')}
        >
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
          {mayRun && (
            <>
              <div className="buttons">
                <Button kind="main" onClick={run} disabled={!canRun} shortcut="⌘⇧↵">
                  {t('plan.run')}
                </Button>
              </div>
              {start.error && <Failure error={start.error} />}
              <Saving text={text} of={saved} isBehind={isBehind} />
            </>
          )}
        </Section>
      </div>
      <SavedPlans open={place} />
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
