import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { afterEach, expect, it, vi } from 'vitest';
import type { ServedRescoring } from '@/api/documents';
import { Rescoring } from './Rescoring';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const GOING: ServedRescoring = {
  rescoring_id: 'r1',
  run_id: 'first',
  status: 'running',
  progress: 0.25,
  done: 1000,
  total: 4000,
  fault: 'the judge answers 429',
  error: null,
  started_by: null,
  created_at: '2026-11-19T20:00:00Z',
  ended_at: null,
  request: { scorers: ['exact'], use: [], judge: [], on: null, keep: false, cost_usd: null, assume_price: null },
  result: null,
};

const show = (mayRun: boolean) =>
  render(
    <QueryClientProvider client={new QueryClient()}>
      <Rescoring rescoring={GOING} mayRun={mayRun} />
    </QueryClientProvider>,
  );

it('says how far it is and the latest fault, and is cancelled', async () => {
  const asked = vi.fn<typeof fetch>().mockResolvedValue(new Response('{}'));
  vi.stubGlobal('fetch', asked);
  show(true);
  expect(screen.getByText('1,000 of 4,000 scored')).toBeTruthy();
  expect(screen.getByText('the judge answers 429')).toBeTruthy();
  fireEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  await waitFor(() => expect(asked).toHaveBeenCalled());
  expect(asked.mock.calls[0]?.[0]).toBe('/api/v1/runs/first/rescorings/r1/cancel');
});

it('a role that may not run anything sees no button', () => {
  show(false);
  expect(screen.queryByRole('button')).toBeNull();
});
