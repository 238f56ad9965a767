/** A run before its end: intervals that hold at every look. Asked seldom where it is dear to work out. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { path } from '@/router/location';
import type { InterimResults } from './documents';
import { request } from './http';

const MIN_PAUSE_MS = 2_000;
/** The server works at most a tenth of the time for whoever watches. */
const SHARE = 10;

export function useInterim(run: string, isWanted: boolean, isGoing: boolean) {
  return useQuery({
    queryKey: ['interim', run, isGoing],
    queryFn: async ({ signal }) => {
      const begun = performance.now();
      const found = await request<InterimResults>(path`/runs/${run}/interim`, { signal });
      return { found, took: performance.now() - begun };
    },
    enabled: isWanted,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      isGoing ? Math.max(MIN_PAUSE_MS, SHARE * (state.data?.took ?? MIN_PAUSE_MS / SHARE)) : false,
  });
}
