/** Benchmarks drafted from a document: the server reads, asks and checks; this browser keeps what came of it. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { DocumentPassages, DraftedSample, DraftedSamples, OwnBenchmark } from './documents';
import { request } from './http';

export type DraftKind = DraftedSample['kind'];

export function useReadPassages(done: (found: DocumentPassages) => void) {
  return useMutation({
    mutationFn: (file: File) => {
      const body = new FormData();
      body.append('file', file, file.name);
      return request<DocumentPassages>('/benchmark-drafts/passages', { method: 'POST', body });
    },
    onSuccess: done,
  });
}

export interface PassagesToDraft {
  passages: readonly { number: number; text: string }[];
  questions: readonly string[];
  writer: string;
  checker: string;
  pilots: readonly string[];
  kind: DraftKind;
  cost_usd: number | null;
}

export const draftSamples = (body: PassagesToDraft, signal: AbortSignal) =>
  request<DraftedSamples>('/benchmark-drafts/samples', { method: 'POST', body, signal });

interface ToKeep {
  name: string;
  version: string;
  document: string;
  samples: readonly DraftedSample[];
}

export function useKeepDraft(done: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: ToKeep) => request<OwnBenchmark>('/benchmark-drafts', { method: 'POST', body }),
    onSuccess: async () => {
      done();
      await client.invalidateQueries({ queryKey: ['own-benchmarks'] });
      await client.invalidateQueries({ queryKey: ['benchmarks'] });
    },
  });
}
