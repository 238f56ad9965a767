/** Only the words that differ between two answers are marked. */
import { diffWordsWithSpace } from 'diff';
import { useMemo } from 'react';
import { VisibleText } from './Foreign';
import './words.css';

const MAX_CHARACTERS = 20_000;

interface Part {
  text: string;
  differs: boolean;
}

export function wordParts(a: string, b: string): { a: Part[]; b: Part[] } {
  const found = a.length + b.length > MAX_CHARACTERS ? undefined : diffWordsWithSpace(a, b, { timeout: 200 });
  if (found === undefined) return { a: [{ text: a, differs: false }], b: [{ text: b, differs: false }] };
  joinGaps(found);
  return {
    a: found.filter((part) => !part.added).map((part) => ({ text: part.value, differs: part.removed })),
    b: found.filter((part) => !part.removed).map((part) => ({ text: part.value, differs: part.added })),
  };
}

/** A space between two words that differ differs, too: marks are then as long as what changed. */
function joinGaps(parts: { value: string; added: boolean; removed: boolean }[]): void {
  for (let index = 1; index < parts.length - 1; index += 1) {
    const [before, gap, after] = [parts[index - 1], parts[index], parts[index + 1]];
    if (!before || !gap || !after || gap.added || gap.removed || gap.value.trim() !== '') continue;
    if ((before.added || before.removed) && (after.added || after.removed)) {
      parts.splice(index, 1, { ...gap, removed: true, added: false }, { ...gap, added: true, removed: false });
      index += 1;
    }
  }
}

/** The text of one side, what only it says marked as right or wrong. */
export function DifferingText({ parts, isRight }: { parts: readonly Part[]; isRight: boolean }) {
  return (
    <div className="foreign answer" dir="auto">
      {parts.map((part, index) =>
        part.differs ? (
          <mark key={index} className={isRight ? 'word right' : 'word wrong'}>
            <VisibleText text={part.text} />
          </mark>
        ) : (
          <VisibleText key={index} text={part.text} />
        ),
      )}
    </div>
  );
}

export const useWordParts = (a: string, b: string) => useMemo(() => wordParts(a, b), [a, b]);
