import { act, renderHook } from '@testing-library/react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { beginDeletion, forgetDeletion, UNDO_SECONDS, useDeletions } from './deletions';

const asked = vi.fn<typeof fetch>();

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', asked);
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  asked.mockReset();
});

const wait = (seconds: number) => act(() => vi.advanceTimersByTimeAsync(seconds * 1000));

it('a run that is taken back in time is never deleted', async () => {
  beginDeletion('first', 'One');
  await wait(UNDO_SECONDS - 1);
  forgetDeletion('first');
  await wait(UNDO_SECONDS);
  expect(asked).not.toHaveBeenCalled();
});

it('a run is deleted once, after the time to take it back, and a refusal is kept to be read', async () => {
  const { result } = renderHook(useDeletions);
  asked.mockResolvedValue(new Response(JSON.stringify({ detail: 'Run first is being executed.' }), { status: 409 }));
  act(() => beginDeletion('first', 'One'));
  await wait(UNDO_SECONDS - 1);
  expect(result.current[0]?.state).toBe('waiting');
  await wait(2 * UNDO_SECONDS);
  expect(asked).toHaveBeenCalledOnce();
  expect(asked.mock.calls[0]?.[1]?.method).toBe('DELETE');
  expect(result.current[0]?.error?.message).toBe('Run first is being executed.');
  act(() => forgetDeletion('first'));
});
