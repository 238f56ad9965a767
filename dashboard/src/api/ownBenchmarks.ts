/** Benchmarks of the project's own: listed, checked, kept version by version, archived. */
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { path } from '@/router/location';
import { t } from '@/text/text';
import type { BenchmarkDescription, OwnBenchmark, OwnBenchmarkPage } from './documents';
import { address, request, send } from './http';

export function useOwnBenchmarks(hasArchived: boolean) {
  return useInfiniteQuery({
    queryKey: ['own-benchmarks', hasArchived],
    queryFn: ({ pageParam, signal }) =>
      request<OwnBenchmarkPage>('/own-benchmarks', {
        query: { archived: String(hasArchived), limit: 50, after: pageParam },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
  });
}

/** A file and the path that the benchmark file calls it by. */
export interface ChosenFile {
  name: string;
  file: File;
}

/** Browsers refuse to send a file that was changed since it was chosen, and do not say why. */
async function formOf(files: readonly ChosenFile[]): Promise<FormData> {
  const form = new FormData();
  for (const { name, file } of files) {
    try {
      await file.slice(0, 1).arrayBuffer();
    } catch {
      throw new Error(t('own.file-changed', { name }));
    }
    form.append('file', file, name);
  }
  return form;
}

export function useCheckBenchmark() {
  return useMutation({
    mutationFn: async (files: readonly ChosenFile[]) =>
      request<BenchmarkDescription>('/own-benchmarks/check', { method: 'POST', body: await formOf(files) }),
  });
}

/** They are listed by themselves, and among all benchmarks. */
function useOwnChanged() {
  const client = useQueryClient();
  return () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ['own-benchmarks'] }),
      client.invalidateQueries({ queryKey: ['benchmarks'] }),
    ]);
}

export function useUploadBenchmark() {
  return useMutation({
    mutationFn: async (files: readonly ChosenFile[]) =>
      request<OwnBenchmark>('/own-benchmarks', { method: 'POST', body: await formOf(files) }),
    onSuccess: useOwnChanged(),
  });
}

/** A version that was deleted, with its files as they were: enough to keep it again. */
export interface DeletedBenchmark {
  one: OwnBenchmark;
  files: readonly ChosenFile[];
}

/** Deletes a version once all its files are here, so that it can be taken back. */
export function useDeleteBenchmark() {
  return useMutation({
    mutationFn: async (one: OwnBenchmark): Promise<DeletedBenchmark> => {
      const files: ChosenFile[] = [];
      for (const name of one.files) {
        const read = await send(path`/own-benchmarks/${one.name}/file`, {
          query: { version: one.version, path: name },
        });
        files.push({ name, file: new File([await read.blob()], name) });
      }
      await send(path`/own-benchmarks/${one.name}`, { method: 'DELETE', query: { version: one.version } });
      return { one, files };
    },
    onSuccess: useOwnChanged(),
  });
}

export function useRestoreBenchmark(done: () => void) {
  const changed = useOwnChanged();
  return useMutation({
    mutationFn: async ({ one, files }: DeletedBenchmark) => {
      await request<OwnBenchmark>('/own-benchmarks', { method: 'POST', body: await formOf(files) });
      if (one.archived_at !== null) await archive(one, true);
    },
    onSuccess: async () => {
      await changed();
      done();
    },
  });
}

const archive = (one: OwnBenchmark, isArchived: boolean) =>
  request<OwnBenchmark>(path`/own-benchmarks/${one.name}/archive`, {
    method: 'POST',
    body: { version: one.version, is_archived: isArchived },
  });

export function useArchiveBenchmark() {
  return useMutation({
    mutationFn: ({ one, isArchived }: { one: OwnBenchmark; isArchived: boolean }) => archive(one, isArchived),
    onSuccess: useOwnChanged(),
  });
}

export const fileAddress = (one: OwnBenchmark, file: string) =>
  address(path`/own-benchmarks/${one.name}/file`, { version: one.version, path: file });
