/** A run's results as one list of any length: pages are read where one looks, and any row is one request away. */
import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import type { Comment, Label, ResultPage, ResultPositions, TrialResult } from './documents';
import { request, type Query } from './http';
import { FIRST_CHARACTERS } from './review';
import { path } from '@/router/location';

export const PAGE = 100;
/** Of each response in a list: what is read is asked for by itself. */
const CHARACTERS = 2_000;

const pageQuery = (run: string, filters: Query, after: string) => ({
  queryKey: ['run', run, 'results', filters, after],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    request<ResultPage>(path`/runs/${run}/results`, {
      query: { ...filters, limit: PAGE, after, characters: CHARACTERS },
      signal,
    }),
  staleTime: 60_000,
});

const positionsQuery = (run: string, filters: Query) => ({
  queryKey: ['run', run, 'positions', filters],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    request<ResultPositions>(path`/runs/${run}/positions`, { query: { ...filters, every: PAGE }, signal }),
  staleTime: 60_000,
});

/** The page that holds the result with this id: the last one that begins before it. */
export function pageOf(after: readonly string[], id: string): number {
  const wanted = BigInt(id);
  let [low, high] = [0, after.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (BigInt(after[middle] ?? '0') < wanted) low = middle;
    else high = middle - 1;
  }
  return low;
}

export const isResultId = (at: string | null): at is string => at !== null && /^[1-9]\d{0,18}$/.test(at);

export interface ResultList {
  /** Rows in all; before they are counted, those that are known. */
  total: number;
  isCounted: boolean;
  isLoading: boolean;
  error: Error | null;
  row: (index: number) => TrialResult | undefined;
  /** The row of the result with this id, where its page is here. */
  indexOf: (id: string) => number | null;
  see: (first: number, last: number) => void;
  /** The row at this place, or the last one, as soon as it is known where the pages begin. */
  fetchRow: (index: number) => Promise<TrialResult | undefined>;
  refetch: () => void;
}

export function useResultList(run: string, filters: Query, at: string | null): ResultList {
  const client = useQueryClient();
  const [seen, setSeen] = useState<readonly [number, number]>([0, 0]);
  const positions = useQuery(positionsQuery(run, filters));
  const after = positions.data?.after ?? ['0'];
  const visible = Array.from({ length: seen[1] - seen[0] + 1 }, (_, index) => seen[0] + index);
  const own = isResultId(at) && positions.data ? [pageOf(after, at)] : [];
  const numbers = [...new Set([...own, ...visible])].filter((number) => number < after.length);
  const pages = useQueries({ queries: numbers.map((number) => pageQuery(run, filters, after[number] ?? '0')) });
  const known = new Map(numbers.map((number, index) => [number, pages[index]?.data?.items ?? []]));
  const first = known.get(0) ?? [];
  const see = useCallback((from: number, to: number) => {
    const next = [Math.floor(from / PAGE), Math.floor(Math.max(from, to - 1) / PAGE)] as const;
    setSeen((before) => (before[0] === next[0] && before[1] === next[1] ? before : next));
  }, []);
  return {
    total: positions.data?.total ?? first.length,
    isCounted: positions.data !== undefined,
    isLoading: positions.data === undefined && pages.every((page) => page.isPending),
    error: positions.error ?? pages.find((page) => page.error)?.error ?? null,
    row: (index) => known.get(Math.floor(index / PAGE))?.[index % PAGE],
    indexOf: (id) => {
      for (const [number, items] of known) {
        const place = items.findIndex((one) => one.result_id === id);
        if (place >= 0) return number * PAGE + place;
      }
      return null;
    },
    see,
    fetchRow: async (index) => {
      const counted = await client.fetchQuery(positionsQuery(run, filters));
      const place = Math.min(index, counted.total - 1);
      const start = counted.after[Math.floor(place / PAGE)];
      if (start === undefined) return undefined;
      const page = await client.fetchQuery(pageQuery(run, filters, start));
      return page.items[place % PAGE];
    },
    refetch: () => void client.invalidateQueries({ queryKey: ['run', run] }),
  };
}

/** The next result after this one that also fits these filters. */
export async function findNext(run: string, query: Query): Promise<string | null> {
  const page = await request<ResultPage>(path`/runs/${run}/results`, { query: { ...query, limit: 1, characters: 0 } });
  return page.items[0]?.result_id ?? null;
}

export function useFirstResults(run: string, query: Query) {
  return useQuery({
    queryKey: ['run', run, 'first', query],
    queryFn: ({ signal }) =>
      request<ResultPage>(path`/runs/${run}/results`, { query: { ...query, characters: CHARACTERS }, signal }),
  });
}

/** All repeats of one sample with one model. */
export function useRepeats(result: TrialResult, isAsked: boolean) {
  const query = {
    model: result.side ?? result.model,
    benchmark: result.benchmark,
    sample: result.sample_id,
    limit: 200,
    characters: FIRST_CHARACTERS,
  };
  return useQuery({
    queryKey: ['run', result.run_id, 'repeats', query],
    queryFn: ({ signal }) => request<ResultPage>(path`/runs/${result.run_id}/results`, { query, signal }),
    enabled: isAsked,
    staleTime: 60_000,
  });
}

export function useLabels(run: string) {
  return useQuery({
    queryKey: ['labels', run],
    queryFn: ({ signal }) => request<Label[]>(path`/runs/${run}/labels`, { signal }),
    staleTime: 30_000,
  });
}

export function useComments(run: string) {
  return useQuery({
    queryKey: ['comments', run],
    queryFn: async ({ signal }) => {
      const found: Comment[] = [];
      let after: string | null = null;
      do {
        const page: { items: Comment[]; next: string | null } = await request(path`/runs/${run}/comments`, {
          query: { limit: 500, after },
          signal,
        });
        found.push(...page.items);
        after = page.next;
      } while (after !== null);
      return found;
    },
    staleTime: 30_000,
  });
}
