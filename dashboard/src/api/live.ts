/** What happens in the project, in every open tab through one connection: the tab that holds the lock reads, the others listen. */
import { createParser } from 'eventsource-parser';
import { useSyncExternalStore } from 'react';
import { address } from './http';

export interface ProjectEvent {
  id: string;
  kind: string;
  run: string | null;
}

export type LiveState = 'connecting' | 'live' | 'lost';

export interface Live {
  state: LiveState;
  /** When something was last heard, in milliseconds; null before. */
  heard: number | null;
}

type Message = { type: 'event'; event: ProjectEvent } | { type: 'state'; state: LiveState } | { type: 'ask' };

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 8_000;
/** A healthy stream says something at least this often, if only a sign of life. */
const SILENCE_MS = 45_000;

let live: Live = { state: 'connecting', heard: null };
const listeners = new Set<() => void>();

function setLive(next: Live): void {
  live = next;
  listeners.forEach((listener) => listener());
}

export const isLive = () => live.state === 'live';

/** Whether what is seen renews itself, and since when not. */
export const useLive = () =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => live,
  );

const wait = (milliseconds: number, signal: AbortSignal) =>
  new Promise<void>((done) => {
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      done();
    });
  });

interface Listener {
  event: (event: ProjectEvent) => void;
  /** The stream is open, for the first time or again: what was missed is to be read anew. */
  opened: () => void;
}

/** Follows a project until `stop` is called. */
export function followProject(project: string, listener: Listener): { stop: () => void } {
  const ending = new AbortController();
  const name = `proctor.events.${project}`;
  const channel = new BroadcastChannel(name);
  let lastId: string | null = null;
  let isLeading = false;

  const hear = (message: Message) => {
    if (ending.signal.aborted) return;
    if (message.type === 'event') {
      lastId = message.event.id || lastId;
      setLive({ ...live, heard: Date.now() });
      listener.event(message.event);
    } else if (message.type === 'state') {
      if (message.state === 'live' && live.state !== 'live') listener.opened();
      setLive({ state: message.state, heard: message.state === 'live' ? Date.now() : live.heard });
    } else if (isLeading) channel.postMessage({ type: 'state', state: live.state } satisfies Message);
  };
  const tell = (message: Message) => {
    hear(message);
    channel.postMessage(message);
  };
  channel.onmessage = ({ data }: MessageEvent<Message>) => hear(data);
  channel.postMessage({ type: 'ask' } satisfies Message);

  const lead = async () => {
    isLeading = true;
    let pause = FIRST_PAUSE_MS;
    while (!ending.signal.aborted) {
      try {
        await readStream(lastId, ending.signal, tell, () => {
          pause = FIRST_PAUSE_MS;
        });
      } catch {
        // A connection that breaks is opened again from the last event that was seen.
      }
      if (ending.signal.aborted) return;
      tell({ type: 'state', state: 'lost' });
      await wait(pause, ending.signal);
      pause = Math.min(pause * 2, MAX_PAUSE_MS);
    }
  };
  setLive({ state: 'connecting', heard: null });
  void navigator.locks.request(name, { signal: ending.signal }, lead).catch(() => undefined);
  return {
    stop: () => {
      ending.abort();
      channel.close();
    },
  };
}

async function readStream(
  lastId: string | null,
  signal: AbortSignal,
  tell: (message: Message) => void,
  opened: () => void,
) {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  const response = await fetch(address('/events'), {
    headers: { Accept: 'text/event-stream', ...(lastId === null ? {} : { 'Last-Event-ID': lastId }) },
    signal: AbortSignal.any([signal, silence.signal]),
  });
  if (!response.ok || !response.body) throw new Error(`The stream answered ${response.status}.`);
  opened();
  tell({ type: 'state', state: 'live' });
  const parser = createParser({
    onEvent: ({ id, event, data }) =>
      tell({ type: 'event', event: { id: id ?? '', kind: event ?? 'message', run: runOf(data) } }),
  });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      parser.feed(value);
    }
  } finally {
    clearTimeout(timer);
  }
}

function runOf(data: string): string | null {
  try {
    const body = JSON.parse(data) as { run_id?: unknown };
    return typeof body.run_id === 'string' ? body.run_id : null;
  } catch {
    return null;
  }
}
