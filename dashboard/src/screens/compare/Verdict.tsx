/** The verdict's sentence as the API says it, its two sides in their colours. */
import { Fragment, type ReactNode } from 'react';
import type { Comparison } from '@/api/documents';
import './compare.css';

export function Verdict({ comparison }: { comparison: Pick<Comparison, 'verdict' | 'a' | 'b'> }) {
  const { verdict, a, b } = comparison;
  return <>{colourNames(verdict, [a.name, b.name])}.</>;
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
