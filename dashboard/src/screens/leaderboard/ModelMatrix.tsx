/** Models by benchmarks: the same figures as in the tables below, side by side. */
import type { LeaderboardRow, LeaderboardTable } from '@/api/documents';
import { Section, Wide } from '@/components/Basics';
import { Dash, Estimate } from '@/components/Figures';
import { Link } from '@/router/Link';
import { withParameters } from '@/router/location';
import { samplesLink } from '@/screens/samples/link';
import { t } from '@/text/text';
import { shortDigest } from './groups';

export function ModelMatrix({ tables }: { tables: readonly LeaderboardTable[] }) {
  const models = [...new Set(tables.flatMap((table) => table.rows.map((row) => row.side)))];
  if (tables.length < 2 || models.length < 2) return null;
  const isRepeated = (table: LeaderboardTable) =>
    tables.some((other) => other !== table && other.benchmark === table.benchmark && other.metric === table.metric);
  const rowOf = (table: LeaderboardTable, side: string): LeaderboardRow | undefined =>
    table.rows.find((row) => row.side === side);
  return (
    <Section title={t('leaderboard.matrix')} note={t('leaderboard.matrix.note')}>
      <Wide isGrid label={t('leaderboard.matrix')}>
        <table className="model-matrix">
          <thead>
            <tr>
              <th>{t('word.model')}</th>
              {tables.map((table) => (
                <th key={table.digest + table.metric} className="number">
                  <Link to={withParameters({ benchmark: table.benchmark })}>{table.benchmark}</Link>
                  <span className="muted small">
                    {' '}
                    {table.metric}
                    {isRepeated(table) && ` ${shortDigest(table)}`}
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {models.map((side) => (
              <tr key={side}>
                <th scope="row">
                  <bdi>{side}</bdi>
                </th>
                {tables.map((table) => {
                  const row = rowOf(table, side);
                  return (
                    <td
                      key={table.digest + table.metric}
                      className={row?.best_rank === 1 ? 'number may-lead' : 'number'}
                    >
                      {row ? (
                        <Estimate
                          estimate={row.estimate}
                          to={samplesLink(row.run_id, { model: row.model, benchmark: table.benchmark })}
                        />
                      ) : (
                        <Dash reason={t('leaderboard.not-run')} />
                      )}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </Section>
  );
}
