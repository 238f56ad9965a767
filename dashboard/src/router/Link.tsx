import type { AnchorHTMLAttributes, MouseEvent } from 'react';
import { navigate } from './location';

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
  return <a href={to} onClick={follow} {...rest} />;
}
