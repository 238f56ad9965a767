/** The verdict's sentence in the reader's language, its two sides in their colours. */
import { Fragment, type ReactNode } from 'react';
import type { Comparison } from '@/api/documents';
import { t } from '@/text/text';
import { verdictText, type HasVerdict } from './verdictText';
import './compare.css';

export function Verdict({ comparison }: { comparison: HasVerdict & Pick<Comparison, 'a' | 'b'> }) {
  const { a, b } = comparison;
  const names = [a.name, b.name];
  const verdict = verdictText(comparison);
  // A sentence that does not begin with a name begins like any other.
  const isNamed = names.some((name) => name !== '' && verdict.startsWith(name));
  const sentence = isNamed ? verdict : verdict.charAt(0).toUpperCase() + verdict.slice(1);
  return (
    <>
      {colourNames(sentence, names)}
      {t('verdict.end')}
    </>
  );
}

export function colourNames(sentence: string, names: readonly string[]): ReactNode {
  const parts: ReactNode[] = [];
  let rest = sentence;
  while (rest !== '') {
    const found = names
      .map((name, index) => ({ name, index, at: name === '' ? -1 : rest.indexOf(name) }))
      .filter((one) => one.at >= 0)
      // Of two names that begin at one place, the longer is meant.
      .sort((one, other) => one.at - other.at || other.name.length - one.name.length)[0];
    if (!found) break;
    parts.push(
      <Fragment key={parts.length}>
        {rest.slice(0, found.at)}
        <bdi className={found.index === 0 ? 'name-a' : 'name-b'}>{found.name}</bdi>
      </Fragment>,
    );
    rest = rest.slice(found.at + found.name.length);
  }
  return [...parts, <Fragment key="rest">{rest.replace(/\.$/, '')}</Fragment>];
}
