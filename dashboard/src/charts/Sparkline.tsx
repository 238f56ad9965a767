/** A score over runs with its interval; a dashed line stands where the samples or prompts changed. */
import type { MetricEstimate } from '@/api/documents';
import { decimalText } from '@/numbers/rounding';
import { intervalText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { path } from '@/router/location';
import { Chart } from './Chart';
import { place, scaleOf } from './scale';

export interface HistoryPoint {
  run: string;
  when: string;
  estimate: MetricEstimate;
  digest: string;
  model: string;
}

export function Sparkline({ title, points }: { title: string; points: readonly HistoryPoint[] }) {
  const ends = points.flatMap(({ estimate }) => estimate.ci95 ?? [estimate.value ?? 0]);
  const y = scaleOf(ends, { clamp: [Math.min(0, ...ends), Math.max(1, ...ends)], wanted: 2 });
  // The last tenth is for the values of the ticks.
  const across = (index: number) => (points.length === 1 ? 50 : 4 + (index / (points.length - 1)) * 82);
  const up = (value: number) => 92 - place(y, value) * 0.84;
  const csv = [
    ['run', 'when', 'value', 'low', 'high', 'n'],
    ...points.map(({ run, when, estimate }) => [
      run,
      when,
      estimate.value,
      ...(estimate.ci95 ?? [null, null]),
      estimate.n,
    ]),
  ];
  return (
    <Chart title={title} table={csv}>
      <svg>
        {y.ticks.map((tick) => (
          <g key={tick}>
            <line x1="0" x2="100%" y1={`${up(tick)}%`} y2={`${up(tick)}%`} stroke="var(--hairline)" />
            <text className="muted" x="100%" y={`${up(tick)}%`} dy="-3" textAnchor="end">
              {decimalText(tick, 2)}
            </text>
          </g>
        ))}
        {points.map((point, index) => {
          const before = points[index - 1];
          const { value, ci95 } = point.estimate;
          if (value === null) return null;
          const x = `${across(index)}%`;
          const isSame = before?.digest === point.digest;
          return (
            <g key={point.run}>
              {before && isSame && before.estimate.value !== null && (
                <line
                  x1={`${across(index - 1)}%`}
                  y1={`${up(before.estimate.value)}%`}
                  x2={x}
                  y2={`${up(value)}%`}
                  stroke="var(--side-b)"
                  strokeWidth="1.5"
                />
              )}
              {before && !isSame && (
                <line
                  x1={`${(across(index) + across(index - 1)) / 2}%`}
                  x2={`${(across(index) + across(index - 1)) / 2}%`}
                  y1="0"
                  y2="100%"
                  stroke="var(--edge)"
                  strokeDasharray="3 3"
                />
              )}
              {ci95 && (
                <line
                  x1={x}
                  x2={x}
                  y1={`${up(ci95[0] ?? 0)}%`}
                  y2={`${up(ci95[1] ?? 0)}%`}
                  stroke="var(--side-b)"
                  strokeWidth="4"
                  strokeLinecap="round"
                  opacity="0.35"
                />
              )}
              <Link
                to={path`/runs/${point.run}`}
                aria-label={`${point.run}: ${decimalText(value)} ${ci95 ? intervalText(ci95 as [number, number]) : ''} n=${point.estimate.n}`}
              >
                <circle cx={x} cy={`${up(value)}%`} r="4.5" fill="var(--side-b)">
                  <title>{`${point.run} · ${decimalText(value)}`}</title>
                </circle>
              </Link>
            </g>
          );
        })}
      </svg>
    </Chart>
  );
}
