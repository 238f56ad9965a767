/** One answer after the other; each key is one mark, and the last can be taken back. */
import { useEffect, useState, type ReactNode } from 'react';
import type { ResultDetails, ReviewItem } from '@/api/documents';
import { isResultId } from '@/api/results';
import { usePrefetchResult, useResult, useSetLabel } from '@/api/review';
import { useMay, useSession } from '@/api/session';
import { useKeys } from '@/app/keys';
import { Button, Failure, Loaded, PageHead, Tag } from '@/components/Basics';
import { Dash } from '@/components/Figures';
import { Foreign } from '@/components/Foreign';
import { decimalText } from '@/numbers/rounding';
import { countText } from '@/numbers/text';
import { useParameters } from '@/router/location';
import ResponseText from '@/screens/samples/ResponseText';
import { t } from '@/text/text';

interface MarkingProps {
  run: string;
  items: readonly ReviewItem[];
  trail: ReactNode;
  lead: string;
}

/** An answer that the address names and that is not among the first of the queue: shown all the same. */
function beyond(wanted: string | null): Pick<ReviewItem, 'result_id' | 'scores'> | null {
  return isResultId(wanted) ? { result_id: wanted, scores: {} } : null;
}

type Marks = Readonly<Record<string, number>>;

function ownMarks(items: readonly ReviewItem[], me: string): Marks {
  const marked = items.flatMap(({ result_id: id, labels }) => (labels[me] === undefined ? [] : [[id, labels[me]]]));
  return Object.fromEntries(marked) as Marks;
}

export function Marking({ run, items, trail, lead }: MarkingProps) {
  const [parameters, change] = useParameters();
  const { data: session } = useSession();
  const mayMark = useMay('run:write');
  const [marks, setMarks] = useState(() => ownMarks(items, session?.user ?? 'local'));
  const [skipped, setSkipped] = useState<readonly string[]>([]);
  const [undone, setUndone] = useState<readonly string[]>([]);
  const label = useSetLabel(run);
  const prefetch = usePrefetchResult();
  const wanted = parameters.get('at');
  const open = items.filter(({ result_id: id }) => marks[id] === undefined && !skipped.includes(id));
  const current = items.find((one) => one.result_id === wanted) ?? beyond(wanted) ?? open[0] ?? null;
  const result = useResult(run, current?.result_id ?? null);
  const next = open.find((one) => one !== current);
  useEffect(() => {
    if (next) prefetch(run, next.result_id);
  }, [next, prefetch, run]);

  const leave = () => change({ at: null }, { replace: true });
  const mark = (value: number) => {
    if (!current || !mayMark) return;
    const { result_id: id } = current;
    const before = marks[id];
    setMarks({ ...marks, [id]: value });
    setUndone([...undone, id]);
    leave();
    label.mutate(
      { result: id, value },
      { onError: () => setMarks((now) => withMark(now, id, before)) }, // it is shown again
    );
  };
  const skip = () => {
    if (!current) return;
    setSkipped([...skipped, current.result_id]);
    setUndone([...undone, current.result_id]);
    leave();
  };
  const undo = () => {
    const last = undone.at(-1);
    if (last === undefined) return;
    setUndone(undone.slice(0, -1));
    setSkipped(skipped.filter((one) => one !== last));
    if (marks[last] !== undefined) {
      setMarks(withMark(marks, last, undefined));
      label.mutate({ result: last, value: null });
    }
    change({ at: last }, { replace: true });
  };
  useKeys([
    ...(mayMark
      ? [
          { key: '1', label: t('review.right'), run: () => mark(1) },
          { key: '0', label: t('review.wrong'), run: () => mark(0) },
        ]
      : []),
    { key: 's', label: t('review.skip'), run: skip },
    { key: 'u', label: t('review.undo'), run: undo },
  ]);
  const done = items.filter(({ result_id: id }) => marks[id] !== undefined).length;
  const last = items.find((one) => one.result_id === undone.at(-1));
  return (
    <>
      <PageHead
        trail={trail}
        title={t('review.progress', { done: countText(done), n: countText(items.length) })}
        lead={lead}
      >
        <progress value={done} max={items.length} aria-label={t('run.progress')} />
      </PageHead>
      {current ? (
        <Loaded query={result}>{(found) => <Answer key={found.result_id} result={found} />}</Loaded>
      ) : (
        <div className="state">
          <h2>{t('review.done')}</h2>
          {skipped.length > 0 && (
            <Button onClick={() => setSkipped([])}>{t('review.skipped', { n: skipped.length })}</Button>
          )}
        </div>
      )}
      <div className="review-buttons no-print">
        {mayMark && current && (
          <>
            <Button kind="main" shortcut="1" onClick={() => mark(1)} aria-pressed={marks[current.result_id] === 1}>
              {t('review.right')}
            </Button>
            <Button kind="main" shortcut="0" onClick={() => mark(0)} aria-pressed={marks[current.result_id] === 0}>
              {t('review.wrong')}
            </Button>
          </>
        )}
        {current && (
          <Button shortcut="s" onClick={skip}>
            {t('review.skip')}
          </Button>
        )}
        <Button shortcut="u" onClick={undo} disabled={undone.length === 0}>
          {t('review.undo')}
        </Button>
        <span className="muted small" role="status">
          {!mayMark ? (
            t('review.read-only')
          ) : last ? (
            <Said item={last} mark={marks[last.result_id]} />
          ) : (
            t('review.blind')
          )}
        </span>
      </div>
      {label.error && <Failure error={label.error} />}
    </>
  );
}

function withMark(marks: Marks, id: string, value: number | undefined): Marks {
  const kept = Object.entries(marks).filter(([name]) => name !== id);
  return Object.fromEntries(value === undefined ? kept : [...kept, [id, value]]);
}

/** What was just said, and what the scorer says of the same answer. */
function Said({ item, mark }: { item: ReviewItem; mark: number | undefined }) {
  if (mark === undefined) return t('review.blind');
  const said = mark === 1 ? t('review.right') : mark === 0 ? t('review.wrong') : decimalText(mark);
  const values = Object.entries(item.scores).map(([scorer, value]) =>
    t('review.said', { mark: said, scorer, value: value === null ? t('mark.unscored') : decimalText(value) }),
  );
  return <bdi>{values.join(' · ')}</bdi>;
}

function Answer({ result }: { result: ResultDetails }) {
  return (
    <article className="review-answer" aria-label={result.sample_id}>
      <header className="sample-line muted small">
        <span>
          <bdi>{result.sample_id}</bdi> · {result.benchmark}
          {result.epoch > 0 && ` · ${t('samples.epoch', { n: result.epoch + 1 })}`}
        </span>
        {result.category !== null && <Tag>{result.category}</Tag>}
      </header>
      <section className="review-question">
        <h2 className="muted small">{t('samples.input')}</h2>
        <Foreign text={result.input} limit={8_000} />
      </section>
      <section className="review-text">
        <h2 className="muted small">{t('word.response')}</h2>
        <ResponseText result={result} />
      </section>
      <section className="review-target">
        <h2 className="muted small">{t('word.target')}</h2>
        {result.target === null ? (
          <Dash reason={t('reason.no-target')} />
        ) : (
          <Foreign text={result.target} limit={4_000} />
        )}
      </section>
    </article>
  );
}
