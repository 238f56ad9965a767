import type { LeaderboardRow, LeaderboardTable } from '@/api/documents';

/** The rows that may be first, as far as the evidence goes. */
export const leadersOf = (table: LeaderboardTable): LeaderboardRow[] => table.rows.filter((row) => row.best_rank === 1);

/** What most is known about comes first: the table with the most answers that were scored, of equal ones the first. */
export function byEvidence(tables: readonly LeaderboardTable[]): LeaderboardTable[] {
  const answers = (table: LeaderboardTable) => table.rows.reduce((sum, row) => sum + row.estimate.n, 0);
  return [...tables].sort((one, other) => answers(other) - answers(one));
}

/** A number for each row; neighbours with the same one share a possible rank through the rows between them. */
export function groupsOf(table: LeaderboardTable): number[] {
  let group = 0;
  let worst = 0;
  return table.rows.map((row) => {
    if (worst > 0 && row.best_rank > worst) group += 1;
    worst = Math.max(worst, row.worst_rank);
    return group;
  });
}

/** Tells tables of one benchmark apart whose samples or settings differ. */
export const shortDigest = ({ digest }: LeaderboardTable) => digest.split('@').at(-1)?.slice(0, 8) ?? '';
