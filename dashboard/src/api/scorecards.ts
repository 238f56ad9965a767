/** Problems in full, and the scorecards of programs that were built for them. */
import { useQuery } from '@tanstack/react-query';
import type { MarkedProgram, ProblemDescription, ProgramCard, ProgramRanking, ScorecardDifference } from './documents';
import { request } from './http';
import { path } from '@/router/location';

const SELDOM = { staleTime: 60_000 };

export function useProblem(name: string) {
  return useQuery({
    queryKey: ['problems', name],
    queryFn: ({ signal }) => request<ProblemDescription>(path`/problems/${name}`, { signal }),
    ...SELDOM,
  });
}

export function useRanking(name: string) {
  return useQuery({
    queryKey: ['problems', name, 'ranking'],
    queryFn: ({ signal }) => request<ProgramRanking>(path`/problems/${name}/ranking`, { signal }),
  });
}

export function useScorecard(card: string) {
  return useQuery({
    queryKey: ['scorecards', card],
    queryFn: ({ signal }) =>
      request<ProgramCard>(`/scorecards/${card.split('/').map(encodeURIComponent).join('/')}`, { signal }),
    ...SELDOM,
  });
}

export function useScorecardDifference(a: string, b: string) {
  return useQuery({
    queryKey: ['scorecards', 'difference', a, b],
    queryFn: ({ signal }) => request<ScorecardDifference>('/scorecards', { query: { a, b }, signal }),
    ...SELDOM,
  });
}

/** The name of a marked program's scorecard, of a submission or of a model's answer. */
export function cardOf(program: MarkedProgram): string {
  // A field that has nothing to say is left out of a document.
  if (program.submission_id) return program.submission_id;
  return `${program.run_id ?? ''}/${program.problem}/${program.epoch ?? 0}/${program.name}`;
}
