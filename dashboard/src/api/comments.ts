/** Comments on a run's results, written and deleted. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { request } from './http';
import { path } from '@/router/location';

export function useAddComment(run: string, result: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (text: string) =>
      request(path`/runs/${run}/comments`, { method: 'POST', body: { text, result_id: result } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['comments', run] }),
  });
}

export function useDeleteComment(run: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (comment: string) => request(path`/runs/${run}/comments/${comment}`, { method: 'DELETE' }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['comments', run] }),
  });
}
