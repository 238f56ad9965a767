/** The address bar as state: everything that a view shows is in its URL. */
import { useCallback, useSyncExternalStore } from 'react';
import { isSite } from '@/api/site';

const listeners = new Set<() => void>();
const notify = () => listeners.forEach((listener) => listener());

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  globalThis.addEventListener('popstate', listener);
  return () => {
    listeners.delete(listener);
    globalThis.removeEventListener('popstate', listener);
  };
}

/** On an exported site, which a plain web server shows, the address within it stands behind the #. */
const here = () => (isSite ? location.hash.slice(1) || '/' : location.pathname + location.search);
const currentPath = () => here().split('?')[0] ?? '/';
const currentSearch = () => {
  const [, search] = here().split(/\?(.*)/s);
  return search ? `?${search}` : '';
};

/** What a link to an address of the dashboard points to. */
export const hrefOf = (to: string) => (isSite ? `#${to}` : to);

export function navigate(to: string, options: { replace?: boolean } = {}): void {
  if (to === here()) return;
  if (options.replace) history.replaceState(null, '', hrefOf(to));
  else history.pushState(null, '', hrefOf(to));
  notify();
}

export const usePath = () => useSyncExternalStore(subscribe, currentPath);
const useSearchText = () => useSyncExternalStore(subscribe, currentSearch);

export type Changes = Readonly<Record<string, string | null>>;

/** An address of the same page with some parameters changed; null takes one away. */
export function withParameters(changes: Changes, search: string = currentSearch()): string {
  const found = new URLSearchParams(search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') found.delete(name);
    else found.set(name, value);
  }
  const text = found.toString();
  return currentPath() + (text ? `?${text}` : '');
}

export function useParameters(): [URLSearchParams, (changes: Changes, options?: { replace?: boolean }) => void] {
  const search = useSearchText();
  const change = useCallback(
    (changes: Changes, options?: { replace?: boolean }) => navigate(withParameters(changes), options),
    [],
  );
  return [new URLSearchParams(search), change];
}

/** A path with its parts escaped: ``path`/runs/${id}` `` is safe for any id. */
export function path(parts: TemplateStringsArray, ...values: readonly string[]): string {
  return parts.reduce((text, part, index) => text + encodeURIComponent(values[index - 1] ?? '') + part);
}

/** What the pattern's names stand for in this path, or null where it is another path. */
export function match(pattern: string, pathname: string): Record<string, string> | null {
  const wanted = pattern.split('/');
  const given = pathname.replace(/(.)\/$/, '$1').split('/');
  if (wanted.length !== given.length) return null;
  const found: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? '';
    if (part.startsWith(':')) {
      try {
        found[part.slice(1)] = decodeURIComponent(value);
      } catch {
        return null;
      }
    } else if (part !== value) return null;
  }
  return found;
}
