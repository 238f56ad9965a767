/** Sample by sample: kept or dropped by one key, with the passage it rests on; what was refused, and why. */
import { useState } from 'react';
import type { DraftedSample } from '@/api/documents';
import { useKeys } from '@/app/keys';
import { Button, Section } from '@/components/Basics';
import { Foreign, VisibleText } from '@/components/Foreign';
import { decimalText } from '@/numbers/rounding';
import { countText } from '@/numbers/text';
import { t } from '@/text/text';
import { accepted, withReview, type BenchmarkDraft } from './state';
import '../review/review.css';

interface ReviewProps {
  draft: BenchmarkDraft;
  change: (next: BenchmarkDraft) => void;
}

export function DraftReview({ draft, change }: ReviewProps) {
  const [skipped, setSkipped] = useState<readonly string[]>([]);
  const [undone, setUndone] = useState<readonly string[]>([]);
  const all = accepted(draft);
  const open = all.filter((one) => (one.review ?? null) === null);
  const current = open.find((one) => !skipped.includes(one.id)) ?? open[0];
  const decide = (review: DraftedSample['review']) => {
    if (!current) return;
    setUndone([...undone, current.id]);
    if (review === null) setSkipped([...skipped.filter((id) => id !== current.id), current.id]);
    else change(withReview(draft, current.id, review));
  };
  const undo = () => {
    const last = undone.at(-1);
    if (last === undefined) return;
    setUndone(undone.slice(0, -1));
    setSkipped(skipped.filter((id) => id !== last));
    change(withReview(draft, last, null));
  };
  useKeys([
    { key: 'k', label: t('draft.keep-one'), run: () => decide('kept') },
    { key: 'd', label: t('draft.drop-one'), run: () => decide('dropped') },
    { key: 's', label: t('review.skip'), run: () => decide(null) },
    { key: 'u', label: t('review.undo'), run: undo },
  ]);
  if (draft.samples.length === 0) return null;
  const count = (review: DraftedSample['review']) => countText(all.filter((one) => one.review === review).length);
  return (
    <>
      <Section
        title={t('nav.review')}
        note={t('draft.decided', { kept: count('kept'), dropped: count('dropped'), open: countText(open.length) })}
      >
        {current && <Sample sample={current} />}
        {!current && all.length > 0 && <p className="muted">{t('draft.all-decided')}</p>}
        {all.length === 0 && <p className="muted">{t('draft.none-accepted')}</p>}
        <div className="review-buttons draft-buttons no-print">
          {current && (
            <>
              <Button kind="main" shortcut="k" onClick={() => decide('kept')}>
                {t('draft.keep-one')}
              </Button>
              <Button shortcut="d" onClick={() => decide('dropped')}>
                {t('draft.drop-one')}
              </Button>
              <Button shortcut="s" onClick={() => decide(null)}>
                {t('review.skip')}
              </Button>
            </>
          )}
          <Button shortcut="u" onClick={undo} disabled={undone.length === 0}>
            {t('review.undo')}
          </Button>
        </div>
      </Section>
      <Refused samples={draft.samples.filter((one) => one.verdict === 'refused')} />
    </>
  );
}

function Sample({ sample }: { sample: DraftedSample }) {
  const choices = sample.choices ?? [];
  return (
    <article className="review-answer" aria-label={sample.question}>
      <section>
        <h3 className="muted small">{t('draft.question')}</h3>
        <div className="draft-question">
          <Foreign text={sample.question} limit={4_000} />
        </div>
        {choices.length > 0 && (
          <ul className="draft-choices">
            {choices.map((one) => (
              <li key={one} className={one === sample.answer ? 'good' : undefined}>
                <Foreign text={one} limit={400} />
              </li>
            ))}
          </ul>
        )}
      </section>
      <section>
        <h3 className="muted small">{t('draft.answer')}</h3>
        <strong className="foreign">
          <VisibleText text={sample.answer} />
        </strong>
        {sample.difficulty !== null && (
          <span className="muted small"> {t('draft.difficulty', { share: decimalText(sample.difficulty, 2) })}</span>
        )}
      </section>
      <section>
        <h3 className="muted small">{t('draft.passage')}</h3>
        <Passage text={sample.passage} evidence={sample.evidence ?? ''} />
      </section>
    </article>
  );
}

/** The passage, with the words marked that the answer rests on, where they stand in it letter by letter. */
function Passage({ text, evidence }: { text: string; evidence: string }) {
  const at = evidence === '' ? -1 : text.indexOf(evidence);
  if (at < 0) return <Foreign text={text} limit={20_000} />;
  const end = at + evidence.length;
  return (
    <p className="foreign" dir="auto">
      <VisibleText text={text.slice(0, at)} />
      <mark className="draft-evidence">
        <VisibleText text={text.slice(at, end)} />
      </mark>
      <VisibleText text={text.slice(end)} />
    </p>
  );
}

function Refused({ samples }: { samples: readonly DraftedSample[] }) {
  if (samples.length === 0) return null;
  return (
    <details className="draft-refused">
      <summary>{t('draft.refused', { n: countText(samples.length) })}</summary>
      <ul className="plain-list small">
        {samples.map((one) => (
          <li key={`${one.id}${one.passage_number}`}>
            <span className="mark-invalid">{one.reason}</span>
            {one.question !== '' && (
              <>
                :{' '}
                <bdi className="foreign">
                  <VisibleText text={one.question} />
                </bdi>
              </>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}
