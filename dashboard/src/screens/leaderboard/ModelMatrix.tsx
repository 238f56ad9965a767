/** Models by benchmarks: the same figures as in the tables below, side by side. */
import { useState } from 'react';
import type { LeaderboardRow, LeaderboardTable } from '@/api/documents';
import { Button, Section, Wide } from '@/components/Basics';
import { Dash, Estimate } from '@/components/Figures';
import { Link } from '@/router/Link';
import { withParameters } from '@/router/location';
import { countText } from '@/numbers/text';
import { samplesLink } from '@/screens/samples/link';
import { t } from '@/text/text';
import { shortDigest } from './groups';
import { metricTitle } from './metricTitle';

/** More models are shown when they are asked for: the tables have them all. */
const AT_ONCE = 12;

export function ModelMatrix({ tables }: { tables: readonly LeaderboardTable[] }) {
  const [isWhole, setWhole] = useState(false);
  const models = [...new Set(tables.flatMap((table) => table.rows.map((row) => row.side)))];
  if (tables.length < 2 || models.length < 2) return null;
  const isRepeated = (table: LeaderboardTable) =>
    tables.some((other) => other !== table && other.benchmark === table.benchmark && other.metric === table.metric);
  const rowOf = (table: LeaderboardTable, side: string): LeaderboardRow | undefined =>
    table.rows.find((row) => row.side === side);
  const shown = isWhole ? models : mostMeasured(models, tables).slice(0, AT_ONCE);
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
                    {metricTitle(table)}
                    {isRepeated(table) && ` ${shortDigest(table)}`}
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((side) => (
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
      {shown.length < models.length && (
        <p className="list-more">
          <span className="muted small">{t('list.first', { shown: shown.length, n: countText(models.length) })}</span>{' '}
          <Button onClick={() => setWhole(true)}>{t('action.more')}</Button>
        </p>
      )}
    </Section>
  );
}

/** Those on most benchmarks first: one that is on a single benchmark is told by its table. */
function mostMeasured(models: readonly string[], tables: readonly LeaderboardTable[]): readonly string[] {
  const count = (side: string) => tables.filter((table) => table.rows.some((row) => row.side === side)).length;
  return [...models].sort((one, other) => count(other) - count(one));
}
