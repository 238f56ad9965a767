/** The difference of two sides with its interval, around zero; the band is what so many samples cannot detect. */
import type { Comparison } from '@/api/documents';
import { seriesColour } from '@/components/Basics';
import { pointsText } from '@/numbers/rounding';
import { t } from '@/text/text';
import { Chart } from './Chart';
import { percent, scaleOf, tickText } from './scale';

export function Difference({ comparison }: { comparison: Comparison }) {
  const { difference, detectable_difference: detectable, a, b } = comparison;
  if (difference.value === null || difference.ci95 === null) return null;
  const [low, high] = difference.ci95 as [number, number];
  const reach = Math.max(Math.abs(low), Math.abs(high), Math.abs(detectable ?? 0)) * 108;
  const scale = scaleOf([-reach, reach], { wanted: 5 });
  const better = comparison.better === b.name ? 1 : comparison.better === a.name ? 0 : undefined;
  const colour = better === undefined ? 'var(--edge)' : seriesColour(better);
  const at = (value: number) => percent(scale, 100 * value);
  const table = [
    ['difference', 'low', 'high', 'n', 'detectable difference'],
    [difference.value, low, high, difference.n, detectable],
  ];
  return (
    <Chart title={t('compare.difference')} className="difference" table={table}>
      <svg role="img" aria-label={`${pointsText(difference.value)} [${pointsText(low)}, ${pointsText(high)}]`}>
        {scale.ticks.map((tick) => (
          <line
            key={tick}
            x1={percent(scale, tick)}
            x2={percent(scale, tick)}
            y1="14"
            y2="66"
            stroke="var(--hairline)"
          />
        ))}
        {detectable !== null && (
          <rect
            x={at(-detectable)}
            width={`${(200 * detectable * 100) / (scale.high - scale.low)}%`}
            y="14"
            height="52"
            fill="var(--neutral-soft)"
          />
        )}
        <line x1={at(0)} x2={at(0)} y1="8" y2="72" stroke="var(--edge)" strokeDasharray="3 3" />
        <line
          x1={at(low)}
          x2={at(high)}
          y1="44"
          y2="44"
          stroke={colour}
          strokeWidth="5"
          strokeLinecap="round"
          opacity="0.5"
        />
        {better === 0 ? (
          <svg x={at(difference.value)} y="44" overflow="visible">
            <rect x="-6" y="-6" width="12" height="12" fill={colour} />
          </svg>
        ) : (
          <circle cx={at(difference.value)} cy="44" r="6.5" fill={colour} />
        )}
        <text x={at(difference.value)} y="29" textAnchor="middle" fontWeight="600">
          {pointsText(difference.value).replace('-', '−')}
        </text>
        {scale.ticks.map((tick) => (
          <text key={tick} className="muted" x={percent(scale, tick)} y="86" textAnchor="middle">
            {tick > 0 ? `+${tickText(tick)}` : tickText(tick)}
          </text>
        ))}
      </svg>
      <div className="ends">
        <span>← {t('compare.side-better', { side: a.name })}</span>
        <span>{t('compare.side-better', { side: b.name })} →</span>
      </div>
    </Chart>
  );
}
