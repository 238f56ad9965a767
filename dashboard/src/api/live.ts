/** A run's events in every open tab through one connection: the tab that holds the lock reads, the others listen. */
import { createParser } from 'eventsource-parser';
import { address } from './http';
import { path } from '@/router/location';

export interface RunEvent {
  id: string;
  kind: string;
  data: string;
}

export type LiveState = 'connecting' | 'live' | 'lost' | 'ended';
type Message = { type: 'event'; event: RunEvent } | { type: 'state'; state: LiveState };

interface Listener {
  event: (event: RunEvent) => void;
  state: (state: LiveState) => void;
}

/** The last of a run's events has one of these names; nothing comes after it. */
export const LAST_EVENTS: ReadonlySet<string> = new Set(['finished', 'failed', 'cancelled']);
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;
/** A healthy stream says something at least this often, if only a comment. */
const SILENCE_MS = 45_000;

const wait = (milliseconds: number, signal: AbortSignal) =>
  new Promise<void>((done) => {
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      done();
    });
  });

/** Follows a run until it has ended or `stop` is called. */
export function followRun(run: string, listener: Listener): { stop: () => void } {
  const ending = new AbortController();
  const name = `proctor.run.${run}`;
  const channel = new BroadcastChannel(name);
  let lastId: string | null = null;
  let isEnded = false;

  const hear = (message: Message) => {
    if (isEnded || ending.signal.aborted) return;
    if (message.type === 'state') {
      listener.state(message.state);
      return;
    }
    lastId = message.event.id || lastId;
    listener.event(message.event);
    if (LAST_EVENTS.has(message.event.kind)) {
      isEnded = true;
      listener.state('ended');
    }
  };
  const tell = (message: Message) => {
    hear(message);
    channel.postMessage(message);
  };
  channel.onmessage = ({ data }: MessageEvent<Message>) => hear(data);

  const lead = async () => {
    let pause = FIRST_PAUSE_MS;
    while (!isEnded && !ending.signal.aborted) {
      tell({ type: 'state', state: 'connecting' });
      try {
        await readStream(run, lastId, ending.signal, tell, () => {
          pause = FIRST_PAUSE_MS;
        });
      } catch {
        // A connection that breaks is opened again from the last event that was seen.
      }
      if (isEnded || ending.signal.aborted) return;
      tell({ type: 'state', state: 'lost' });
      await wait(pause, ending.signal);
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
  };
  void navigator.locks.request(name, { signal: ending.signal }, lead).catch(() => undefined);
  return {
    stop: () => {
      ending.abort();
      channel.close();
    },
  };
}

async function readStream(
  run: string,
  lastId: string | null,
  signal: AbortSignal,
  tell: (message: Message) => void,
  opened: () => void,
) {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  const response = await fetch(address(path`/runs/${run}/events`), {
    headers: { Accept: 'text/event-stream', ...(lastId === null ? {} : { 'Last-Event-ID': lastId }) },
    signal: AbortSignal.any([signal, silence.signal]),
  });
  if (!response.ok || !response.body) throw new Error(`The stream answered ${response.status}.`);
  opened();
  tell({ type: 'state', state: 'live' });
  const parser = createParser({
    onEvent: (event) =>
      tell({ type: 'event', event: { id: event.id ?? '', kind: event.event ?? 'message', data: event.data } }),
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
