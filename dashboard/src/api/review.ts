/** Answers for people to mark: the queue, one answer of it, and marks. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ResultDetails, RunReview } from './documents';
import { request, type Query } from './http';
import { path } from '@/router/location';

export const QUEUES = ['random', 'wrong', 'judged', 'disagreements'] as const;
export type QueueName = (typeof QUEUES)[number];

/** A queue as it was when it was opened: marks do not take answers out of it under one's hands. */
export function useQueue(run: string, query: Query) {
  return useQuery({
    queryKey: ['review', run, query],
    queryFn: ({ signal }) => request<RunReview>(path`/runs/${run}/review`, { query, signal }),
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
}

/** What people's marks say by now. */
export function useAgreement(run: string, query: Query) {
  return useQuery({
    queryKey: ['agreement', run, query],
    queryFn: ({ signal }) => request<RunReview>(path`/runs/${run}/review`, { query: { ...query, limit: 1 }, signal }),
  });
}

/** Of a response that is read, so much at once. */
export const FIRST_CHARACTERS = 20_000;

const resultQuery = (run: string, result: string, characters = FIRST_CHARACTERS) => ({
  queryKey: ['result', run, result, characters],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    request<ResultDetails>(path`/runs/${run}/results/${result}`, { query: { characters }, signal }),
  staleTime: 60_000,
});

export const useResult = (run: string, result: string | null) =>
  useQuery({ ...resultQuery(run, result ?? ''), enabled: result !== null });

/** The same with more of its response, once that is wanted. */
export const useMoreOfResult = (run: string, result: string, characters: number) =>
  useQuery({ ...resultQuery(run, result, characters), enabled: characters > FIRST_CHARACTERS });

export function usePrefetchResult() {
  const client = useQueryClient();
  return (run: string, result: string) => void client.prefetchQuery(resultQuery(run, result));
}

/** Sets one's own mark of a result; null takes it back. */
export function useSetLabel(run: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ result, value }: { result: string; value: number | null }) =>
      request(path`/runs/${run}/results/${result}/label`, {
        method: value === null ? 'DELETE' : 'PUT',
        ...(value === null ? {} : { body: { value } }),
      }),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ['agreement', run] }),
        client.invalidateQueries({ queryKey: ['labels', run] }),
      ]),
  });
}
