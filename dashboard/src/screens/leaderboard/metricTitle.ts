import type { LeaderboardTable } from '@/api/documents';

/** What a table's metric is called: a mean of partial scores is no accuracy. */
export const metricTitle = (table: LeaderboardTable) =>
  table.rows.find((row) => row.estimate.title !== null)?.estimate.title ?? table.metric;
