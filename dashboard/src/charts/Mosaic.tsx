/** Who was right: a 2×2 mosaic whose areas are counts of samples. */
import type { Comparison } from '@/api/documents';
import { Marker } from '@/components/Basics';
import { countText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { withParameters } from '@/router/location';
import { t } from '@/text/text';
import { Chart } from './Chart';

export interface Quadrants {
  both: number;
  onlyA: number;
  onlyB: number;
  neither: number;
}

/** Null where marks are not only right or wrong: then areas would say what was not measured. */
export function quadrants(comparison: Comparison): Quadrants | null {
  const { a, b, n, flips } = comparison;
  if (!comparison.test.includes('McNemar') || a.score.value === null || b.score.value === null) return null;
  const onlyA = flips.lost.count;
  const onlyB = flips.gained.count;
  const both = Math.round(a.score.value * n) - onlyA;
  if (both !== Math.round(b.score.value * n) - onlyB || both < 0) return null;
  return { both, onlyA, onlyB, neither: n - both - onlyA - onlyB };
}

export function Mosaic({ comparison }: { comparison: Comparison }) {
  const found = quadrants(comparison);
  const counts = found ?? {
    both: null,
    neither: null,
    onlyA: comparison.flips.lost.count,
    onlyB: comparison.flips.gained.count,
  };
  const { a, b, n } = comparison;
  const table = [
    ['right', 'samples'],
    ['both', counts.both],
    [a.name, counts.onlyA],
    [b.name, counts.onlyB],
    ['neither', counts.neither],
  ];
  return (
    <Chart title={t('compare.who-was-right')} table={table}>
      {found && n > 0 && <Areas counts={found} n={n} />}
      <div className="mosaic-legend">
        {counts.both !== null && (
          <span>
            <strong>{countText(counts.both)}</strong> {t('compare.both-right')}
          </span>
        )}
        <Link to={withParameters({ flips: 'worse', at: null })}>
          <Marker index={0} />
          <strong>{countText(counts.onlyA)}</strong> {t('compare.only', { side: a.name })}
        </Link>
        <Link to={withParameters({ flips: 'better', at: null })}>
          <Marker index={1} />
          <strong>{countText(counts.onlyB)}</strong> {t('compare.only', { side: b.name })}
        </Link>
        {counts.neither !== null && (
          <span>
            <strong>{countText(counts.neither)}</strong> {t('compare.neither-right')}
          </span>
        )}
      </div>
    </Chart>
  );
}

const share = (count: number) => `minmax(${count > 0 ? 3 : 0}px, ${count}fr)`;

function Areas({ counts, n }: { counts: Quadrants; n: number }) {
  const rightA = counts.both + counts.onlyA;
  return (
    <div
      className="mosaic"
      aria-hidden="true"
      style={{ gridTemplateRows: `${Math.max(rightA / n, 0.04)}fr ${Math.max(1 - rightA / n, 0.04)}fr` }}
    >
      <div className="row" style={{ gridTemplateColumns: `${share(counts.both)} ${share(counts.onlyA)}` }}>
        <div className="cell both">
          <Area count={counts.both} name={t('compare.both-right')} />
        </div>
        <div className="cell only-a">
          <Area count={counts.onlyA} />
        </div>
      </div>
      <div className="row" style={{ gridTemplateColumns: `${share(counts.onlyB)} ${share(counts.neither)}` }}>
        <div className="cell only-b">
          <Area count={counts.onlyB} />
        </div>
        <div className="cell neither">
          <Area count={counts.neither} name={t('compare.neither-right')} />
        </div>
      </div>
    </div>
  );
}

/** What an area stands for, where there is room to say it; the legend says it in any case. */
function Area({ count, name }: { count: number; name?: string }) {
  return (
    <span className="area">
      <strong>{countText(count)}</strong>
      {name !== undefined && <span>{name}</span>}
    </span>
  );
}
