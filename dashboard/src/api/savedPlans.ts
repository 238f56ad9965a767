/** Plans that are kept on the server: to be opened again, changed and run by whoever is in the project. */
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { path } from '@/router/location';
import type { SavedPlan, SavedPlanPage } from './documents';
import { request } from './http';

export function useSavedPlans() {
  return useInfiniteQuery({
    queryKey: ['plans'],
    queryFn: ({ pageParam, signal }) =>
      request<SavedPlanPage>('/plans', { query: { limit: 20, after: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
  });
}

export function useSavedPlan(plan: string | null) {
  return useQuery({
    queryKey: ['plans', plan],
    queryFn: ({ signal }) => request<SavedPlan>(path`/plans/${plan ?? ''}`, { signal }),
    enabled: plan !== null,
    // Renewed under somebody's hands it would take his place in the text.
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });
}

interface Change {
  name: string;
  /** As it was written, and what it says. */
  text: string;
  plan: unknown;
  /** The plan that it takes the place of, in the revision that was read; null for a new one. */
  of: SavedPlan | null;
}

/** `done` is called before anything is shown anew. */
export function useSavePlan(done: (saved: SavedPlan, change: Change) => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ name, plan, of }: Change) =>
      of === null
        ? request<SavedPlan>('/plans', { method: 'POST', body: { name, plan } })
        : request<SavedPlan>(path`/plans/${of.plan_id}`, {
            method: 'PUT',
            body: { name, plan },
            headers: { 'If-Match': `"${of.revision}"` },
          }),
    onSuccess: (saved, change) => {
      done(saved, change);
      client.setQueryData(['plans', saved.plan_id], saved);
      return client.invalidateQueries({ queryKey: ['plans'], exact: true });
    },
  });
}

export function useDeletePlan() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ plan_id }: SavedPlan) => request(path`/plans/${plan_id}`, { method: 'DELETE' }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['plans'], exact: true }),
  });
}
