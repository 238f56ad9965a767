/** A plan to begin with: it needs no key and costs nothing. */
export const planFor = (benchmark: string | null) => `name: ${benchmark ?? 'my-first'}-plan
models:
  - demo/strong
  - demo/weak
benchmarks:
  - benchmark: ${benchmark ?? 'puzzles'}
    limit: 100
limits:
  minutes: 10
`;
