/** Events of the project renew what is shown of its runs; mounted once, around every screen. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { followProject } from './live';
import { useSession } from './session';
import { isSite } from './site';

const RUN_PAUSE_MS = 700;
const LIST_PAUSE_MS = 1_500;
const FRESH_MS = 1_000;

/** Calls at most once in so many milliseconds, the last time for certain. */
function atMostEvery(milliseconds: number, call: () => void): { run: () => void; stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | null = null;
  return {
    run: () => {
      timer ??= setTimeout(() => {
        timer = null;
        call();
      }, milliseconds);
    },
    stop: () => {
      if (timer !== null) clearTimeout(timer);
    },
  };
}

export function useProjectEvents(): void {
  const client = useQueryClient();
  const { data: session } = useSession();
  const project = session?.project ?? 'local';
  useEffect(() => {
    if (isSite) return;
    const changed = new Set<string>();
    const runs = atMostEvery(RUN_PAUSE_MS, () => {
      for (const run of changed) void client.invalidateQueries({ queryKey: ['run', run] });
      changed.clear();
    });
    const lists = atMostEvery(LIST_PAUSE_MS, () => void client.invalidateQueries({ queryKey: ['runs'] }));
    const { stop } = followProject(project, {
      event: ({ run }) => {
        if (run === null) return;
        changed.add(run);
        runs.run();
        lists.run();
      },
      opened: () => {
        // What was read just now, or could not be read at all, is not asked again.
        const before = Date.now() - FRESH_MS;
        const predicate = ({ state }: { state: { data: unknown; dataUpdatedAt: number } }) =>
          state.data !== undefined && state.dataUpdatedAt < before;
        void client.invalidateQueries({ queryKey: ['run'], predicate });
        void client.invalidateQueries({ queryKey: ['runs'], predicate });
      },
    });
    return () => {
      stop();
      runs.stop();
      lists.stop();
    };
  }, [client, project]);
}
