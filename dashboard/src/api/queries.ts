/** What the server knows, by resource; screens ask here and nowhere else. */
import {
  keepPreviousData,
  QueryCache,
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type {
  AcceptedRun,
  BenchmarkDescription,
  Comparisons,
  DryRun,
  Leaderboard,
  ListedBenchmark,
  ListedProblem,
  PlanDraft,
  ProviderDescription,
  Recommendations,
  RunDocument,
  RunPage,
} from './documents';
import { ProblemError, request, type Query } from './http';
import { isLive } from './live';
import { path } from '@/router/location';

const isWorthRetrying = (count: number, error: Error) =>
  count < 2 && error instanceof ProblemError && (error.status === 0 || error.status >= 502);

/** Whatever is refused because the session has ended asks who is signed in; the answer opens the way back in. */
const queryCache = new QueryCache({
  onError: (error, query) => {
    const isRefused = error instanceof ProblemError && error.status === 401;
    if (isRefused && query.queryKey[0] !== 'session') void queryClient.invalidateQueries({ queryKey: ['session'] });
  },
});

export const queryClient: QueryClient = new QueryClient({
  queryCache,
  defaultOptions: {
    queries: { staleTime: 5_000, retry: isWorthRetrying, refetchOnWindowFocus: true },
    mutations: { retry: false },
  },
});

export interface RunFilters {
  text?: string | null;
  status?: string | null;
  model?: string | null;
  benchmark?: string | null;
  tag?: string | null;
  /** Runs on benchmarks, where nothing is said; asks of the arena; or all. */
  kind?: string | null;
}

export const isAsk = (run: { kind: string }) => run.kind === 'playground';
const GOING = new Set(['queued', 'running']);
export const isGoing = (run: { status: string }) => GOING.has(run.status);

/** The runs, newest first; events renew them, and where these do not come they are asked again while one is going. */
export function useRuns(filters: RunFilters = {}, limit = 50) {
  return useInfiniteQuery({
    queryKey: ['runs', filters, limit],
    queryFn: ({ pageParam, signal }) =>
      request<RunPage>('/runs', { query: { ...filters, limit, after: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
    refetchInterval: (query) =>
      !isLive() && query.state.data?.pages.some((page) => page.items.some(isGoing)) ? 2_000 : 15_000,
  });
}

export function useRun(run: string) {
  return useQuery({
    queryKey: ['run', run],
    queryFn: ({ signal }) => request<RunDocument>(path`/runs/${run}`, { signal }),
    // Events renew it; where these do not come it is asked again.
    refetchInterval: (query) => (query.state.data && isGoing(query.state.data) ? (isLive() ? 15_000 : 2_000) : false),
  });
}

export function useComparison(query: Query, isAsked = true) {
  return useQuery({
    queryKey: ['compare', query],
    queryFn: ({ signal }) => request<Comparisons>('/compare', { query, signal }),
    enabled: isAsked,
    placeholderData: keepPreviousData,
  });
}

export function useLeaderboard(query: Query) {
  return useQuery({
    queryKey: ['leaderboard', query],
    queryFn: ({ signal }) => request<Leaderboard>('/leaderboard', { query, signal }),
    placeholderData: keepPreviousData,
  });
}

const SELDOM = { staleTime: 60_000 };

export function useBenchmarks() {
  return useQuery({
    queryKey: ['benchmarks'],
    queryFn: ({ signal }) => request<ListedBenchmark[]>('/benchmarks', { signal }),
    ...SELDOM,
  });
}

export function useBenchmark(name: string) {
  return useQuery({
    queryKey: ['benchmarks', name],
    queryFn: ({ signal }) => request<BenchmarkDescription>(path`/benchmarks/${name}`, { signal }),
    ...SELDOM,
  });
}

export function useProviders() {
  return useQuery({
    queryKey: ['models'],
    queryFn: ({ signal }) => request<ProviderDescription[]>('/models', { signal }),
    ...SELDOM,
  });
}

export function useProblems() {
  return useQuery({
    queryKey: ['problems'],
    queryFn: ({ signal }) => request<ListedProblem[]>('/problems', { signal }),
    ...SELDOM,
  });
}

export function useStartRun() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ plan, saved = null }: { plan: unknown; saved?: string | null }) =>
      request<AcceptedRun>('/runs', { method: 'POST', body: plan, query: { plan_id: saved } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['runs'] }),
  });
}

export function useEstimate() {
  return useMutation({ mutationFn: (plan: unknown) => request<DryRun>('/estimate', { method: 'POST', body: plan }) });
}

/** A plan from words, by the server's rules; with `base`, that plan with what the words change. */
export function useDraft() {
  return useMutation({
    mutationFn: ({ query, base }: { query: string; base?: unknown }) =>
      request<PlanDraft>('/plans/draft', {
        method: 'POST',
        body: base === undefined ? { query } : { query, from: base },
      }),
  });
}

/** Benchmarks that fit a need said in words; nothing is asked before there is one. */
export function useRecommendations(need: string | null) {
  return useQuery({
    queryKey: ['recommendations', need],
    queryFn: () => request<Recommendations>('/recommendations', { query: { for: need } }),
    enabled: need !== null && need !== '',
  });
}

const MAX_RETRIES = 60;

export function useRunAction(run: string, action: 'cancel' | 'resume') {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => request(path`/runs/${run}/${action}`, { method: 'POST' }),
    // A run that was just stopped is taken up again once its requests in flight have ended.
    retry: (count, error) =>
      action === 'resume' && error instanceof ProblemError && error.status === 409 && count < MAX_RETRIES,
    retryDelay: 1_000,
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ['run', run] }),
        client.invalidateQueries({ queryKey: ['runs'] }),
      ]),
  });
}
