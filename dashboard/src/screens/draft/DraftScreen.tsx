/** A benchmark drafted from a document: models write and check its samples, a person decides, and it is kept. */
import { useEffect, useRef, useState } from 'react';
import { draftSamples } from '@/api/benchmarkDrafts';
import { useMay, useSession } from '@/api/session';
import { Button, Empty, Failure, PageHead, Section } from '@/components/Basics';
import { VisibleText } from '@/components/Foreign';
import { costText, countText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { plural, t } from '@/text/text';
import { Chosen, DraftForm } from './DraftForm';
import { DraftReview } from './DraftReview';
import { KeepDraft } from './KeepDraft';
import {
  accepted,
  begin,
  keep,
  NEW_SETTINGS,
  nextPassages,
  ownerOf,
  readKept,
  type BenchmarkDraft,
  type Settings,
} from './state';
import './draft.css';

export default function DraftScreen() {
  const mayRun = useMay('run:write');
  const mayWrite = useMay('benchmark:write');
  const { data: session, isPending } = useSession();
  const owner = ownerOf(session);
  const trail = (
    <>
      <Link to="/benchmarks">{t('nav.benchmarks')}</Link> · {t('draft.title')}
    </>
  );
  if (!mayRun || !mayWrite) {
    return (
      <>
        <PageHead trail={trail} title={t('draft.title')} />
        <Empty title={t('state.forbidden')} />
      </>
    );
  }
  return (
    <>
      <PageHead trail={trail} title={t('draft.title')} lead={t('draft.lead')} />
      {!isPending && <Drafting key={owner} owner={owner} />}
    </>
  );
}

function Drafting({ owner }: { owner: string }) {
  const [draft, setDraft] = useState<BenchmarkDraft | null>(() => readKept(owner));
  const [isKept, setKept] = useState(true);
  const [discarded, setDiscarded] = useState<BenchmarkDraft | null>(null);
  const change = (next: BenchmarkDraft | null) => {
    setDraft(next);
    setKept(keep(next, owner));
  };
  const discard = (whole: BenchmarkDraft | null, next: BenchmarkDraft | null) => {
    setDiscarded(whole);
    change(next);
  };
  const { isGoing, notes, error, start, stop } = useDrafting(draft, change);
  if (draft === null) {
    return (
      <>
        {discarded && (
          <p role="status" className="draft-discarded">
            {t('draft.discarded', { name: discarded.document })}{' '}
            <Button onClick={() => discard(null, discarded)}>{t('plan.undo')}</Button>
          </p>
        )}
        <DraftForm
          given={discarded?.settings ?? NEW_SETTINGS}
          begin={(document, passages, settings) => {
            const made = begin(document, passages, settings);
            discard(null, made);
            void start(made);
          }}
        />
      </>
    );
  }
  return (
    <>
      <Progress
        draft={draft}
        isGoing={isGoing}
        stop={stop}
        goOn={() => void start(draft)}
        discard={() => discard(draft, null)}
      />
      {!isKept && (
        <p className="notice" role="status">
          {t('draft.not-kept')}
        </p>
      )}
      {error && <Failure error={error} />}
      {notes.map((note) => (
        <p key={note} className="notice foreign">
          <VisibleText text={note} />
        </p>
      ))}
      <DraftReview draft={draft} change={change} />
      {accepted(draft).length > 0 && !isGoing && <KeepDraft draft={draft} done={() => change(null)} />}
      <Chosen settings={draft.settings} />
    </>
  );
}

/** Passage after passage, until enough is accepted, nothing is left, or somebody stops it. */
function useDrafting(draft: BenchmarkDraft | null, change: (next: BenchmarkDraft) => void) {
  const [isGoing, setGoing] = useState(false);
  const [notes, setNotes] = useState<readonly string[]>([]);
  const [error, setError] = useState<Error | null>(null);
  const newest = useRef(draft);
  const going = useRef<AbortController | null>(null);
  useEffect(() => {
    newest.current = draft;
  }, [draft]);
  // Whoever leaves the page asks for nothing more.
  useEffect(() => () => going.current?.abort(), []);
  const start = async (from: BenchmarkDraft) => {
    const controller = new AbortController();
    going.current = controller;
    newest.current = from;
    setGoing(true);
    setNotes([]);
    setError(null);
    try {
      await draftAll(newest, controller.signal, change, (more) => setNotes((now) => [...new Set([...now, ...more])]));
    } catch (found) {
      if (!controller.signal.aborted) setError(found as Error);
    }
    if (going.current === controller) setGoing(false);
  };
  const stop = () => {
    going.current?.abort();
    setGoing(false);
  };
  return { isGoing, notes, error, start, stop };
}

async function draftAll(
  newest: { current: BenchmarkDraft | null },
  signal: AbortSignal,
  change: (next: BenchmarkDraft) => void,
  note: (more: readonly string[]) => void,
): Promise<void> {
  const failed = new Set<number>();
  for (;;) {
    const draft = newest.current;
    const numbers = draft === null ? [] : nextPassages(draft, failed);
    if (draft === null || numbers.length === 0 || signal.aborted) return;
    const passages = numbers.map((number) => ({ number, text: draft.passages[number] ?? '' }));
    const questions = accepted(draft).map((one) => one.question);
    const found = await draftSamples({ passages, questions, ...namedIn(draft.settings) }, signal);
    const made = new Set(found.samples.map((one) => one.passage_number));
    for (const number of numbers) if (!made.has(number)) failed.add(number);
    note(found.notes);
    // What was decided while it was drafted stays.
    const now: BenchmarkDraft = newest.current ?? draft;
    const cost = now.cost === null || found.cost_usd === null ? null : now.cost + found.cost_usd;
    const next = { ...now, samples: [...now.samples, ...found.samples], requests: now.requests + found.requests, cost };
    newest.current = next;
    change(next);
  }
}

const namedIn = ({ writer, checker, pilots, kind, costLimit }: Settings) => ({
  writer: writer.trim(),
  checker: checker.trim(),
  pilots: pilots.split(/[\s,]+/).filter(Boolean),
  kind,
  cost_usd: costLimit.trim() === '' ? null : Number(costLimit),
});

interface ProgressProps {
  draft: BenchmarkDraft;
  isGoing: boolean;
  stop: () => void;
  goOn: () => void;
  discard: () => void;
}

function Progress({ draft, isGoing, stop, goOn, discard }: ProgressProps) {
  const count = accepted(draft).length;
  const wanted = Number(draft.settings.count);
  const isDone = nextPassages(draft, new Set()).length === 0;
  const facts = [
    t('draft.passages', { done: countText(draft.samples.length), n: countText(draft.passages.length) }),
    plural('draft.requests', draft.requests),
    draft.cost === null ? t('draft.cost-unknown') : costText(draft.cost),
  ];
  return (
    <Section title={draft.document} note={facts.join(' · ')}>
      <p role="status" className="draft-count">
        {t('draft.accepted', { n: countText(count), wanted: countText(wanted) })}
      </p>
      <progress value={Math.min(count, wanted)} max={wanted} aria-label={t('run.progress')} />
      <div className="buttons draft-actions">
        {isGoing ? (
          <Button onClick={stop}>{t('arena.stop')}</Button>
        ) : (
          !isDone && <Button onClick={goOn}>{t('draft.go-on')}</Button>
        )}
        {!isGoing && (
          <Button kind="quiet" onClick={discard}>
            {t('draft.discard')}
          </Button>
        )}
      </div>
    </Section>
  );
}
