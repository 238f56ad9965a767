import type { AnchorHTMLAttributes, MouseEvent } from 'react';
import { isSite } from '@/api/site';
import { hrefOf, navigate } from './location';

const SITE_PAGES = /^\/(leaderboard|compare|history|runs(\/[^/?]+)?)?(\?.*)?$/;

interface LinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  to: string;
}

/** A link within the dashboard; with a modifier key or another button it is the browser's own. */
export function Link({ to, onClick, ...rest }: LinkProps) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (event.defaultPrevented || !isPlain || rest.target) return;
    event.preventDefault();
    navigate(to);
    if (!to.includes('?')) globalThis.scrollTo(0, 0);
  };
  // Single answers and what can be changed stay on the server.
  if (isSite && !SITE_PAGES.test(to) && rest.className?.includes('button')) return null;
  if (isSite && !SITE_PAGES.test(to)) return <span className={rest.className}>{rest.children}</span>;
  return <a href={hrefOf(to)} onClick={follow} {...rest} />;
}
