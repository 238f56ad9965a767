/** One prompt to several models: what is asked, and the answers as they grow. */
import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createParser } from 'eventsource-parser';
import { useEffect, useState } from 'react';
import { path } from '@/router/location';
import type { AskPage, FoundModel, PlaygroundAnswer, PlaygroundAsk, PreferenceRanking } from './documents';
import { address, ProblemError, request } from './http';

const DAY_MS = 86_400_000;

/** Models whose name has every word that was typed. */
export function useKnownModels(text: string) {
  return useQuery({
    queryKey: ['known-models', text],
    queryFn: ({ signal }) => request<FoundModel[]>('/known-models', { query: { text, limit: 30 }, signal }),
    staleTime: DAY_MS,
    placeholderData: keepPreviousData,
  });
}

export function useAsks() {
  return useInfiniteQuery({
    queryKey: ['asks'],
    queryFn: ({ pageParam, signal }) =>
      request<AskPage>('/playground', { query: { limit: 20, after: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
  });
}

export function usePreferences() {
  return useQuery({
    queryKey: ['preferences'],
    queryFn: ({ signal }) => request<PreferenceRanking>('/playground/ranking', { signal }),
  });
}

export function useStoredAsk(ask: string) {
  return useQuery({
    queryKey: ['ask', ask],
    queryFn: ({ signal }) => request<PlaygroundAsk>(path`/playground/${ask}`, { signal }),
  });
}

export function useNewAsk() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: unknown) => request<PlaygroundAsk>('/playground', { method: 'POST', body }),
    onSuccess: (ask) => {
      client.setQueryData(['ask', ask.ask_id], ask);
      return client.invalidateQueries({ queryKey: ['asks'] });
    },
  });
}

/** Stop, vote or reveal: each answers with the ask as it then is. */
export function useAskAction(ask: string, action: 'stop' | 'votes' | 'reveal') {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: unknown = {}) =>
      request<PlaygroundAsk>(path`/playground/${ask}/${action}`, { method: 'POST', body }),
    onSuccess: (found) => {
      client.setQueryData(['ask', ask], found);
      return Promise.all([
        client.invalidateQueries({ queryKey: ['preferences'] }),
        client.invalidateQueries({ queryKey: ['asks'] }),
      ]);
    },
  });
}

export type Growing = Partial<PlaygroundAnswer> & Pick<PlaygroundAnswer, 'state' | 'text'>;
export type GrowingAnswers = Readonly<Record<string, Growing>>;
const PAUSE_MS = 700;
const BEGUN: Growing = { state: 'waiting', text: '' };

/** What an ask's stream has brought so far; opened again where it broke off, and `ended` is called once after its end. */
export function useGrowingAnswers(ask: string, isWanted: boolean, ended: () => void): GrowingAnswers {
  const [answers, setAnswers] = useState<GrowingAnswers>({});
  useEffect(() => {
    if (!isWanted) return;
    const ending = new AbortController();
    let last = '';
    const hear = (name: string, data: string, id: string) => {
      last = id;
      if (name === 'end') {
        ending.abort();
        ended();
        return;
      }
      const found = JSON.parse(data) as Growing & { answer: string };
      setAnswers((before) => ({ ...before, [found.answer]: grown(before[found.answer] ?? BEGUN, name, found) }));
    };
    void followAsk(ask, () => last, hear, ending.signal);
    return () => ending.abort();
    // `ended` may be another function each time; the stream is the same.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [ask, isWanted]);
  return answers;
}

export function grown(before: Growing, name: string, found: Partial<PlaygroundAnswer>): Growing {
  if (name === 'start') return { ...before, ...found, state: 'waiting' };
  if (name === 'delta') {
    const reasoning = (before.reasoning ?? '') + (found.reasoning ?? '');
    return { ...before, ...found, text: before.text + (found.text ?? ''), reasoning, state: 'streaming' };
  }
  return { ...before, ...found, text: found.text ?? before.text };
}

async function followAsk(
  ask: string,
  last: () => string,
  hear: (name: string, data: string, id: string) => void,
  signal: AbortSignal,
) {
  while (!signal.aborted) {
    try {
      await readEvents(ask, last(), hear, signal);
    } catch (error) {
      if (error instanceof ProblemError && error.status > 0 && error.status < 500 && error.status !== 429) return;
    }
    await new Promise((done) => setTimeout(done, PAUSE_MS));
  }
}

async function readEvents(
  ask: string,
  last: string,
  hear: (name: string, data: string, id: string) => void,
  signal: AbortSignal,
) {
  const response = await fetch(address(path`/playground/${ask}/events`), {
    headers: { Accept: 'text/event-stream', ...(last === '' ? {} : { 'Last-Event-ID': last }) },
    signal,
  });
  if (!response.ok || !response.body) throw new ProblemError(response.status, response.statusText);
  const parser = createParser({ onEvent: ({ id, event, data }) => hear(event ?? '', data, id ?? '') });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    parser.feed(value);
  }
}
