/** Runs that are to be deleted: for some seconds each can be taken back, and only then the server is asked. */
import { useSyncExternalStore } from 'react';
import type { RunDeletion } from './documents';
import { request } from './http';
import { queryClient } from './queries';
import { path } from '@/router/location';

export const UNDO_SECONDS = 10;

export interface Deletion {
  run: string;
  name: string;
  state: 'waiting' | 'asked' | 'done' | 'refused';
  /** Runs whose plans name it, once it is deleted. */
  namedBy: readonly string[];
  error: Error | null;
}

let deletions: readonly Deletion[] = [];
const timers = new Map<string, ReturnType<typeof setTimeout>>();
const listeners = new Set<() => void>();

function change(next: typeof deletions): void {
  deletions = next;
  listeners.forEach((listener) => listener());
}

const update = (run: string, changed: Partial<Deletion>) =>
  change(deletions.map((one) => (one.run === run ? { ...one, ...changed } : one)));

export const useDeletions = () =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => deletions,
  );

/** Takes a run back, or what is said of one that was deleted off the screen. */
export function forgetDeletion(run: string): void {
  clearTimeout(timers.get(run));
  timers.delete(run);
  change(deletions.filter((one) => one.run !== run));
}

/** Deletes a run once there was time to take it back. */
export function beginDeletion(run: string, name: string): void {
  forgetDeletion(run);
  change([...deletions, { run, name, state: 'waiting', namedBy: [], error: null }]);
  timers.set(
    run,
    setTimeout(() => void deleteNow(run), UNDO_SECONDS * 1000),
  );
}

export async function deleteNow(run: string): Promise<void> {
  if (deletions.find((one) => one.run === run)?.state !== 'waiting') return;
  clearTimeout(timers.get(run));
  timers.delete(run);
  update(run, { state: 'asked' });
  try {
    const { named_by: namedBy } = await request<RunDeletion>(path`/runs/${run}`, { method: 'DELETE' });
    update(run, { state: 'done', namedBy });
    queryClient.removeQueries({ queryKey: ['run', run] });
  } catch (error) {
    update(run, { state: 'refused', error: error instanceof Error ? error : new Error(String(error)) });
  }
  await Promise.all(
    ['runs', 'leaderboard', 'compare'].map((kind) => queryClient.invalidateQueries({ queryKey: [kind] })),
  );
}
