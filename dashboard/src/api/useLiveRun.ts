/** A run that is renewed while it is going, by its events; says whether it is live, and since when not. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { followRun, type LiveState } from './live';
import { isGoing, useRun } from './queries';

const SHORTEST_PAUSE_MS = 700;

export interface Live {
  state: LiveState;
  heard: number | null;
}

export function useLiveRun(run: string) {
  const query = useRun(run);
  const client = useQueryClient();
  const [live, setLive] = useState<Live>({ state: 'connecting', heard: null });
  const isFollowed = query.data !== undefined && isGoing(query.data);
  const pending = useRef<ReturnType<typeof setTimeout> | null>(null);

  useEffect(() => {
    if (!isFollowed) return;
    const renew = () => {
      pending.current ??= setTimeout(() => {
        pending.current = null;
        void client.invalidateQueries({ queryKey: ['run', run] });
      }, SHORTEST_PAUSE_MS);
    };
    const { stop } = followRun(run, {
      event: () => {
        setLive((before) => ({ ...before, heard: Date.now() }));
        renew();
      },
      state: (state) => {
        setLive((before) => ({ ...before, state }));
        if (state !== 'connecting') renew();
      },
    });
    return () => {
      stop();
      if (pending.current !== null) clearTimeout(pending.current);
      pending.current = null;
    };
  }, [client, isFollowed, run]);
  return { query, live: isFollowed ? live : null };
}
