import type { TrialResult } from '@/api/documents';
import { Tag } from '@/components/Basics';
import { decimalText } from '@/numbers/rounding';
import { t, type TextKey } from '@/text/text';

/** The first scorer's mark in a word, and how it looks; a fault is never a wrong answer. */
export function markOf(result: TrialResult): { text: string; look: string } {
  if (result.outcome !== 'scored') return { text: t(`outcome.${result.outcome}` as TextKey), look: result.outcome };
  const value = Object.values(result.scores)[0]?.value;
  if (value === null || value === undefined) return { text: t('mark.unscored'), look: 'unscored' };
  if (value === 1) return { text: t('mark.right'), look: 'right' };
  return value === 0 ? { text: t('mark.wrong'), look: 'wrong' } : { text: decimalText(value, 2), look: 'partly' };
}

export function Mark({ result }: { result: TrialResult }) {
  const { text, look } = markOf(result);
  return <span className={`mark mark-${look}`}>{text}</span>;
}

export function SampleRow({ result, isAt, open }: { result: TrialResult; isAt: boolean; open: () => void }) {
  return (
    <button type="button" className="sample-row" aria-current={isAt ? 'true' : undefined} onClick={open} tabIndex={-1}>
      <span className="sample-line">
        <bdi>{result.sample_id}</bdi>
        <span className="muted small">{result.side ?? result.model}</span>
        <Mark result={result} />
      </span>
      <span className="sample-line muted">
        <span className="sample-input" dir="auto">
          {result.input.slice(0, 140)}
        </span>
        {result.category !== null && <Tag>{result.category}</Tag>}
      </span>
    </button>
  );
}
