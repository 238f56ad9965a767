import { path } from '@/router/location';

/** The address of a queue of a run. */
export function reviewLink(queue: string, query: Readonly<Record<string, string | null>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== null && value !== '') search.set(name, value);
  return path`/review/${queue}` + `?${search.toString()}`;
}
