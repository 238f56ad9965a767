/** Scores over the samples that were drawn, each with the band that holds at every look: how sure it is by now. */
import type { InterimEvaluation } from '@/api/documents';
import { seriesColour, SHAPES } from '@/components/Basics';
import { countText } from '@/numbers/text';
import { Chart } from './Chart';
import { place, scaleOf, tickText } from './scale';

interface Props {
  title: string;
  /** Each with its place among the run's models, which its colour and shape follow. */
  series: readonly { index: number; evaluation: InterimEvaluation }[];
  samples: number;
}

const HEIGHT = 190;
const FOOT = 18;

export function Narrowing({ title, series, samples }: Props) {
  // A band is widest where it begins, and says least there: the axis follows what is known now, and some of the way.
  const ends = series.flatMap(({ evaluation }) => {
    const { points } = evaluation;
    return points.slice(Math.floor(points.length / 4)).flatMap(({ interval }) => interval);
  });
  const y = scaleOf(ends, { clamp: [0, 1], wanted: 4 });
  const across = (n: number) => (100 * n) / Math.max(1, samples);
  const up = (value: number) => ((100 - place(y, value)) / 100) * (HEIGHT - FOOT);
  const csv = [
    ['model', 'n', 'value', 'low', 'high'],
    ...series.flatMap(({ evaluation }) =>
      evaluation.points.map(({ n, value, interval }) => [evaluation.side, n, value, ...interval]),
    ),
  ];
  const now = Math.max(...series.map(({ evaluation }) => evaluation.points.at(-1)?.n ?? 0));
  return (
    <Chart title={title} className="narrowing" table={csv}>
      <svg role="img" aria-label={title} height={HEIGHT}>
        {y.ticks.map((tick) => (
          <g key={tick}>
            <line x1="0" x2="100%" y1={up(tick)} y2={up(tick)} stroke="var(--hairline)" />
            <text className="muted" x="100%" y={up(tick) - 4} textAnchor="end">
              {tickText(tick)}
            </text>
          </g>
        ))}
        <svg viewBox={`0 0 100 ${HEIGHT}`} preserveAspectRatio="none" width="100%" height={HEIGHT}>
          {series.map(({ index, evaluation }) => (
            <Band key={index} index={index} evaluation={evaluation} across={across} up={up} />
          ))}
        </svg>
        <line
          x1={`${across(now)}%`}
          x2={`${across(now)}%`}
          y1="0"
          y2={HEIGHT - FOOT}
          stroke="var(--edge)"
          strokeDasharray="2 3"
        />
        {series.map(({ index, evaluation }) => {
          const last = evaluation.points.at(-1);
          if (!last || last.value === null) return null;
          return (
            <svg key={index} x={`${across(last.n)}%`} y={up(last.value) - 5} overflow="visible" width="10" height="10">
              <g transform="translate(-5 0)" fill={seriesColour(index)}>
                {SHAPES[index % SHAPES.length]}
              </g>
            </svg>
          );
        })}
        <text className="muted" x="0" y={HEIGHT - 3}>
          0
        </text>
        <text className="muted" x="100%" y={HEIGHT - 3} textAnchor="end">
          {countText(samples)}
        </text>
        {now > samples * 0.06 && now < samples * 0.92 && (
          <text x={`${across(now)}%`} y={HEIGHT - 3} textAnchor="middle">
            {countText(now)}
          </text>
        )}
      </svg>
    </Chart>
  );
}

interface BandProps {
  index: number;
  evaluation: InterimEvaluation;
  across: (n: number) => number;
  up: (value: number) => number;
}

function Band({ index, evaluation, across, up }: BandProps) {
  const { points } = evaluation;
  const at = (n: number, value: number) => `${across(n).toFixed(2)} ${up(value).toFixed(1)}`;
  const top = points.map(({ n, interval }) => at(n, interval[1]));
  const bottom = points.map(({ n, interval }) => at(n, interval[0])).reverse();
  const line = points.flatMap(({ n, value }) => (value === null ? [] : [at(n, value)]));
  if (line.length < 2) return null;
  return (
    <>
      <path d={`M${[...top, ...bottom].join('L')}Z`} fill={seriesColour(index)} opacity="0.15" />
      <path
        d={`M${line.join('L')}`}
        fill="none"
        stroke={seriesColour(index)}
        strokeWidth="2"
        vectorEffect="non-scaling-stroke"
      />
    </>
  );
}
