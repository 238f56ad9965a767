/** Models in order, with the ranks that the evidence leaves open, and what each costs. */
import { useState } from 'react';
import type { LeaderboardRow, LeaderboardTable } from '@/api/documents';
import { useBenchmarks, useLeaderboard } from '@/api/queries';
import { useKeys } from '@/app/keys';
import { Chart } from '@/charts/Chart';
import { Frontier } from '@/charts/Frontier';
import { Axis, IntervalCell } from '@/charts/IntervalCell';
import { scaleOf } from '@/charts/scale';
import { Button, Empty, Loaded, PageHead, Section, Wide } from '@/components/Basics';
import { Field, Select } from '@/components/Fields';
import { Cost, Estimate, Seconds } from '@/components/Figures';
import { countText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { navigate, useParameters } from '@/router/location';
import { samplesLink } from '@/screens/samples/link';
import { t } from '@/text/text';
import { byEvidence, groupsOf, leadersOf, shortDigest } from './groups';
import { metricTitle } from './metricTitle';
import { ModelMatrix } from './ModelMatrix';
import './leaderboard.css';

export default function LeaderboardScreen() {
  const [parameters, change] = useParameters();
  const benchmark = parameters.get('benchmark');
  const board = useLeaderboard({ benchmark, metric: parameters.get('metric') });
  const benchmarks = useBenchmarks();
  const names = [...new Set(board.data?.tables.map((table) => table.benchmark) ?? [])];
  const known = benchmark && !names.includes(benchmark) ? [benchmark, ...names] : names;
  return (
    <Loaded isPage query={board}>
      {(data) => {
        const [first, ...rest] = byEvidence(data.tables);
        return (
          <>
            <PageHead
              trail={
                first
                  ? `${t('nav.leaderboard')} · ${first.benchmark} ${first.version} · ${t('leaderboard.samples', { n: countText(first.samples) })}`
                  : t('nav.leaderboard')
              }
              title={first ? <Sentence table={first} /> : t('leaderboard.empty')}
              lead={first ? t('leaderboard.lead') : undefined}
            />
            {(known.length > 1 || benchmark) && (
              <div className="filters">
                <Field label={t('word.benchmark')}>
                  <Select
                    value={benchmark ?? ''}
                    change={(next) => change({ benchmark: next })}
                    options={[['', t('filter.all')], ...known.map((one) => [one, one] as const)]}
                  />
                </Field>
              </div>
            )}
            {first ? (
              <>
                <Board table={first} hasKeys isOneOfSeveral={isOneOfSeveral(first, data.tables)} />
                <ModelMatrix tables={data.tables} />
                {rest.map((table) => (
                  <Board
                    key={table.digest + table.metric}
                    table={table}
                    hasKeys={false}
                    isOneOfSeveral={isOneOfSeveral(table, data.tables)}
                  />
                ))}
              </>
            ) : (
              <Empty title={t('leaderboard.none')}>
                <p className="muted">{t('leaderboard.none.what', { n: countText(benchmarks.data?.length ?? 0) })}</p>
                <Link className="button" to="/plan">
                  {t('runs.new')}
                </Link>
              </Empty>
            )}
            {(data.left_out.not_completed > 0 || data.left_out.without_metric > 0) && (
              <p className="muted small">
                {data.left_out.not_completed > 0 &&
                  t('leaderboard.not-completed', { n: countText(data.left_out.not_completed) })}{' '}
                {data.left_out.without_metric > 0 &&
                  t('leaderboard.without-metric', { n: countText(data.left_out.without_metric) })}
              </p>
            )}
          </>
        );
      }}
    </Loaded>
  );
}

/** One sentence: who leads, or between whom no difference is shown. */
function Sentence({ table }: { table: LeaderboardTable }) {
  const leaders = leadersOf(table);
  const names = leaders.map((row) => row.side);
  if (table.rows.length === 1)
    return <>{t('leaderboard.single', { model: names[0] ?? '', benchmark: table.benchmark })}</>;
  if (names.length === 1) return <>{t('leaderboard.leads', { model: names[0] ?? '', benchmark: table.benchmark })}</>;
  const several =
    names.length > 3
      ? t('leaderboard.several', { n: names.length })
      : new Intl.ListFormat(document.documentElement.lang).format(names);
  return <>{t('leaderboard.tied', { models: several, benchmark: table.benchmark })}</>;
}

const nameOf = (table: LeaderboardTable) => `${table.benchmark} · ${metricTitle(table)}`;

const isOneOfSeveral = (table: LeaderboardTable, all: readonly LeaderboardTable[]) =>
  all.some((other) => other !== table && nameOf(other) === nameOf(table));

interface BoardProps {
  table: LeaderboardTable;
  hasKeys: boolean;
  isOneOfSeveral: boolean;
}

/** Tables of one benchmark whose samples or settings differ are told apart by the beginning of their digest. */
function Board({ table, hasKeys, isOneOfSeveral }: BoardProps) {
  const name = isOneOfSeveral ? `${nameOf(table)} · ${shortDigest(table)}` : nameOf(table);
  const ends = table.rows.flatMap((row) => row.estimate.ci95 ?? []);
  const scale = scaleOf(ends, { clamp: [0, 1], wanted: 5 });
  const groups = groupsOf(table);
  const hasCosts = table.rows.filter((row) => (row.cost_usd ?? 0) > 0).length > 1;
  const csv = [
    ['rank', 'model', metricTitle(table), 'low', 'high', 'n', 'cost_usd', 'run'],
    ...table.rows.map((row) => [
      row.rank,
      row.side,
      row.estimate.value,
      ...(row.estimate.ci95 ?? [null, null]),
      row.estimate.n,
      row.cost_usd,
      row.run_id,
    ]),
  ];
  return (
    <Section title={name} note={table.ranks === 'paired' ? t('leaderboard.paired') : t('leaderboard.separate')}>
      <Chart title={name} table={csv}>
        <Wide label={name}>
          <table className="board">
            <thead>
              <tr>
                <th>
                  <span className="hidden">{t('runs.choose')}</span>
                </th>
                <th>{t('leaderboard.rank')}</th>
                <th>{t('word.model')}</th>
                <th>{t('compare.interval')}</th>
                <th className="number">{metricTitle(table)}</th>
                <th className="number">{t('runs.cost')}</th>
                <th className="number">p50</th>
                <th className="number">{t('outcome.invalid')}</th>
                <th className="number">{t('outcome.failed')}</th>
              </tr>
            </thead>
            <Rows table={table} groups={groups} scale={scale} hasKeys={hasKeys} />
          </table>
        </Wide>
      </Chart>
      {hasCosts && <Frontier table={table} />}
    </Section>
  );
}

interface RowsProps {
  table: LeaderboardTable;
  groups: readonly number[];
  scale: ReturnType<typeof scaleOf>;
  hasKeys: boolean;
}

function Rows({ table, groups, scale, hasKeys }: RowsProps) {
  const [at, setAt] = useState(0);
  const [chosen, setChosen] = useState<readonly number[]>([]);
  const sideOf = (index: number | undefined) => {
    const row = index === undefined ? undefined : table.rows[index];
    return row ? `${row.run_id}:${row.model}` : null;
  };
  const compare = () => {
    const [a, b] = chosen.length === 2 ? [chosen[1], chosen[0]] : [at + 1, at];
    const query = { a: sideOf(a) ?? '', b: sideOf(b) ?? '' };
    if (query.a && query.b) navigate(`/compare?${new URLSearchParams(query).toString()}`);
  };
  const choose = (index: number) =>
    setChosen(
      chosen.includes(index)
        ? chosen.filter((one) => one !== index)
        : [...chosen, index].slice(-2).sort((a, b) => a - b),
    );
  useKeys(
    hasKeys
      ? [
          { key: 'j', label: t('keys.next'), run: () => setAt(Math.min(at + 1, table.rows.length - 1)) },
          { key: 'k', label: t('keys.previous'), run: () => setAt(Math.max(at - 1, 0)) },
          { key: 'x', label: t('keys.choose'), run: () => choose(at) },
          { key: 'c', label: t('keys.compare'), run: compare },
        ]
      : [],
  );
  return (
    <tbody>
      {table.rows.map((row, index) => (
        <BoardRow
          key={`${row.run_id}${row.side}`}
          row={row}
          table={table}
          isNewGroup={index > 0 && groups[index] !== groups[index - 1]}
          isAt={hasKeys && index === at}
          isChosen={chosen.includes(index)}
          choose={() => choose(index)}
          scale={scale}
        />
      ))}
      <tr>
        <td className="axis" colSpan={3}>
          {chosen.length === 2 && (
            <Button onClick={compare} shortcut="c">
              {t('action.compare')}
            </Button>
          )}
        </td>
        <td className="axis" aria-hidden="true">
          <Axis scale={scale} />
        </td>
        <td className="axis" colSpan={5} />
      </tr>
    </tbody>
  );
}

interface BoardRowProps {
  row: LeaderboardRow;
  table: LeaderboardTable;
  isNewGroup: boolean;
  isAt: boolean;
  isChosen: boolean;
  choose: () => void;
  scale: ReturnType<typeof scaleOf>;
}

function BoardRow({ row, table, isNewGroup, isAt, isChosen, choose, scale }: BoardRowProps) {
  const link = (outcome: string | null = null) =>
    samplesLink(row.run_id, { model: row.model, benchmark: table.benchmark, outcome });
  return (
    <tr className={`${isAt ? 'at' : ''} ${isNewGroup ? 'new-group' : ''}`}>
      <td>
        <input
          type="checkbox"
          checked={isChosen}
          onChange={choose}
          aria-label={t('runs.choose-one', { run: row.side })}
        />
      </td>
      <td title={t('leaderboard.open-ranks', { best: row.best_rank, worst: row.worst_rank })}>{row.rank}</td>
      <td>
        <Link to={`/runs/${encodeURIComponent(row.run_id)}`}>
          <bdi>{row.side}</bdi>
        </Link>
        {row.is_forgeable && <span className="muted small"> {t('leaderboard.forgeable')}</span>}
        {row.note !== null && <p className="muted small">{row.note}</p>}
      </td>
      <td className="interval-cell">
        <IntervalCell estimate={row.estimate} scale={scale} series={1} />
      </td>
      <td className="number">
        <Estimate estimate={row.estimate} to={link()} />
      </td>
      <td className="number">
        <Cost usd={row.cost_usd} basis={row.cost_basis} />
      </td>
      <td className="number">
        <Seconds value={row.latency_seconds.p50} />
      </td>
      <td className="number">
        <Link to={link('invalid')}>{countText(row.invalid)}</Link>
      </td>
      <td className="number">{row.failed > 0 ? <Link to={link('failed')}>{countText(row.failed)}</Link> : 0}</td>
    </tr>
  );
}
