/** Lists of accounts, keys and addresses, and changes to them. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { request } from './http';

/** What a path lists; asked only by those who may see it. */
export function useListed<Item>(path: string, isAsked = true) {
  return useQuery({
    queryKey: ['listed', path],
    queryFn: ({ signal }) => request<Item[]>(path, { signal }),
    enabled: isAsked,
  });
}

interface Change {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: unknown;
}

/** A change to something listed; all lists are then read anew. */
export function useAdminChange<Answer = unknown>() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ method, path, body }: Change) =>
      request<Answer>(path, { method, ...(body === undefined ? {} : { body }) }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['listed'] }),
  });
}
