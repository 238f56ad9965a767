/** Runs that are scored again: asked for, followed, cancelled. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { AcceptedRescoring, RescoreRequest, RescoringPage } from './documents';
import { request } from './http';
import { isLive } from './live';
import { isGoing } from './queries';
import { path } from '@/router/location';

/** The newest rescorings of a run; events of the run renew them, and where these do not come they are asked again. */
export function useRescorings(run: string) {
  return useQuery({
    queryKey: ['run', run, 'rescorings'],
    queryFn: ({ signal }) => request<RescoringPage>(path`/runs/${run}/rescorings`, { signal }),
    refetchInterval: ({ state }) => (state.data?.items.some(isGoing) ? (isLive() ? 5_000 : 2_000) : false),
  });
}

function useRescoringsChanged(run: string) {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: ['run', run] });
}

export function useRescore(run: string) {
  return useMutation({
    mutationFn: (body: Partial<RescoreRequest>) =>
      request<AcceptedRescoring>(path`/runs/${run}/rescore`, { method: 'POST', body }),
    onSuccess: useRescoringsChanged(run),
  });
}

export function useCancelRescoring(run: string) {
  return useMutation({
    mutationFn: (rescoring: string) => request(path`/runs/${run}/rescorings/${rescoring}/cancel`, { method: 'POST' }),
    onSettled: useRescoringsChanged(run),
  });
}
