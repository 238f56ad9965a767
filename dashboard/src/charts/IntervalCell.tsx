/** One row of an interval plot: the table around it is the table behind the chart. */
import type { MetricEstimate, Rate } from '@/api/documents';
import { seriesColour, SHAPES } from '@/components/Basics';
import { percent, tickText, type Scale } from './scale';
import './charts.css';

interface IntervalCellProps {
  estimate: MetricEstimate | Rate;
  scale: Scale;
  series?: number;
  line?: number;
}

export function IntervalCell({ estimate, scale, series, line }: IntervalCellProps) {
  const colour = series === undefined ? 'var(--neutral)' : seriesColour(series);
  const interval = estimate.ci95;
  return (
    <svg aria-hidden="true" focusable="false">
      {scale.ticks.map((tick) => (
        <line key={tick} x1={percent(scale, tick)} x2={percent(scale, tick)} y1="-8" y2="26" stroke="var(--hairline)" />
      ))}
      {line !== undefined && (
        <line
          x1={percent(scale, line)}
          x2={percent(scale, line)}
          y1="-8"
          y2="26"
          stroke="var(--edge)"
          strokeDasharray="3 3"
        />
      )}
      {interval && (
        <line
          x1={percent(scale, interval[0] ?? 0)}
          x2={percent(scale, interval[1] ?? 0)}
          y1="9"
          y2="9"
          stroke={colour}
          strokeWidth="4"
          strokeLinecap="round"
          opacity="0.5"
        />
      )}
      {estimate.value !== null &&
        (series === undefined ? (
          <circle cx={percent(scale, estimate.value)} cy="9" r="5" fill={colour} />
        ) : (
          <svg x={percent(scale, estimate.value)} y="4" width="10" height="10" overflow="visible">
            <g transform="translate(-5 0)" fill={colour}>
              {SHAPES[series % SHAPES.length]}
            </g>
          </svg>
        ))}
    </svg>
  );
}

/** Texts of more letters stand only at the ends of a narrow axis. */
const LONG = 4;

export function Axis({
  scale,
  label,
  form = tickText,
}: {
  scale: Scale;
  label?: string;
  form?: (value: number) => string;
}) {
  const isLong = scale.ticks.some((tick) => form(tick).length > LONG);
  return (
    <svg role="presentation" className={isLong ? 'long' : undefined}>
      {scale.ticks.map((tick, index) => (
        <text
          key={tick}
          x={percent(scale, tick)}
          y="12"
          textAnchor={index === 0 ? 'start' : index === scale.ticks.length - 1 ? 'end' : 'middle'}
        >
          {form(tick)}
        </text>
      ))}
      {label && <title>{label}</title>}
    </svg>
  );
}
