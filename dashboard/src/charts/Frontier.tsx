/** Cost against score; what is joined by the line is beaten by nothing that is cheaper. */
import type { LeaderboardTable } from '@/api/documents';
import { costText } from '@/numbers/text';
import { decimalText } from '@/numbers/rounding';
import { t } from '@/text/text';
import { Chart } from './Chart';
import { percent, place, scaleOf } from './scale';

interface Point {
  name: string;
  cost: number;
  score: number;
}

export function frontierOf(points: readonly Point[]): Point[] {
  let best = -Infinity;
  return [...points]
    .sort((a, b) => a.cost - b.cost || b.score - a.score)
    .filter((point) => {
      const isBetter = point.score > best;
      best = Math.max(best, point.score);
      return isBetter;
    });
}

export function Frontier({ table }: { table: LeaderboardTable }) {
  const points = table.rows.flatMap((row): Point[] =>
    row.cost_usd === null || row.estimate.value === null
      ? []
      : [{ name: row.side, cost: row.cost_usd, score: row.estimate.value }],
  );
  if (points.length < 2) return null;
  const x = scaleOf(
    points.map((one) => one.cost),
    { zero: true },
  );
  const y = scaleOf(
    points.map((one) => one.score),
    { clamp: [0, 1], wanted: 4 },
  );
  const up = (score: number) => `${95 - place(y, score) * 0.85}%`;
  const frontier = frontierOf(points);
  const csv = [['model', 'cost_usd', table.metric], ...points.map((one) => [one.name, one.cost, one.score])];
  return (
    <Chart title={t('chart.frontier')} className="frontier" table={csv}>
      <svg role="img" aria-label={t('chart.frontier')}>
        {y.ticks.map((tick) => (
          <g key={tick}>
            <line x1="0" x2="100%" y1={up(tick)} y2={up(tick)} stroke="var(--hairline)" />
            <text className="muted" x="0" y={up(tick)} dy="-3">
              {decimalText(tick, 2)}
            </text>
          </g>
        ))}
        {frontier.slice(1).map((point, index) => {
          const before = frontier[index];
          return before ? (
            <line
              key={point.name}
              x1={percent(x, before.cost)}
              y1={up(before.score)}
              x2={percent(x, point.cost)}
              y2={up(point.score)}
              stroke="var(--side-b)"
              strokeDasharray="4 3"
            />
          ) : null;
        })}
        {points.map((point) => (
          <g key={point.name}>
            <circle cx={percent(x, point.cost)} cy={up(point.score)} r="5" fill="var(--side-b)" />
            <text
              x={percent(x, point.cost)}
              y={up(point.score)}
              dx={place(x, point.cost) > 70 ? -9 : 9}
              dy="4"
              textAnchor={place(x, point.cost) > 70 ? 'end' : 'start'}
            >
              {point.name}
            </text>
          </g>
        ))}
      </svg>
      <p className="muted small">
        {t('chart.frontier.axes', { metric: table.metric, low: costText(x.low), high: costText(x.high) })}
      </p>
    </Chart>
  );
}
