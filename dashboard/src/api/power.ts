/** How many samples a difference needs, or what so many samples can show. */
import { useQuery } from '@tanstack/react-query';
import type { PowerAnswer } from './documents';
import { request, type Query } from './http';

export function usePower(query: Query) {
  return useQuery({
    queryKey: ['power', query],
    queryFn: ({ signal }) => request<PowerAnswer>('/power', { query, signal }),
    retry: false,
  });
}
