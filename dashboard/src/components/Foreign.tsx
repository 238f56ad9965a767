/** Text that a model or a stranger wrote: shown as text, with every character that could steer the page made visible. */
import { Fragment } from 'react';
import { t } from '@/text/text';

// Controls, bidirectional overrides, zero-width characters and lone surrogates. New lines and tabs stay.
const STEERING =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|\p{Surrogate}/gu;
const AT_ONCE = 20_000;

export function visibleParts(text: string): { text: string; isControl: boolean }[] {
  const parts: { text: string; isControl: boolean }[] = [];
  let end = 0;
  for (const found of text.matchAll(STEERING)) {
    if (found.index > end) parts.push({ text: text.slice(end, found.index), isControl: false });
    const code = found[0].codePointAt(0) ?? 0;
    parts.push({ text: `\\u${code.toString(16).padStart(4, '0')}`, isControl: true });
    end = found.index + found[0].length;
  }
  if (end < text.length) parts.push({ text: text.slice(end), isControl: false });
  return parts;
}

export function VisibleText({ text }: { text: string }) {
  const parts = visibleParts(text);
  return parts.map((part, index) =>
    part.isControl ? (
      <span key={index} className="control-character">
        {part.text}
      </span>
    ) : (
      <Fragment key={index}>{part.text}</Fragment>
    ),
  );
}

/** At most so many characters, and how many there are. */
interface ForeignProps {
  text: string;
  limit?: number;
  /** How many there are in all, where the text is the beginning of a longer one. */
  total?: number;
}

export function Foreign({ text, limit = AT_ONCE, total = text.length }: ForeignProps) {
  const isCut = total > limit || text.length < total;
  return (
    <div className="foreign" dir="auto">
      <VisibleText text={isCut ? text.slice(0, limit) : text} />
      {isCut && (
        <p className="muted small">
          {t('text.cut', {
            shown: Math.min(limit, text.length).toLocaleString('en-US'),
            n: total.toLocaleString('en-US'),
          })}
        </p>
      )}
    </div>
  );
}
