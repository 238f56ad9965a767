/** The address of the samples behind a figure. */
import { path } from '@/router/location';

export interface SampleFilters {
  model?: string | null;
  benchmark?: string | null;
  category?: string | null;
  outcome?: string | null;
  mark?: string | null;
  text?: string | null;
  at?: string | null;
}

export function samplesLink(run: string, filters: SampleFilters): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(filters))
    if (typeof value === 'string' && value !== '') search.set(name, value);
  const text = search.toString();
  return path`/runs/${run}/samples` + (text ? `?${text}` : '');
}
