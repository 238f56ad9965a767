import type { TrialResult } from '@/api/documents';

/** The sample as a line of a benchmark's data file, so that a wrong answer becomes a test. */
export function asTest(result: TrialResult): string {
  const { sample_id: id, input, target, category } = result;
  return JSON.stringify({ id, input, target, ...(category === null ? {} : { category }) });
}
