/** Every answer as a dot whose shape and colour say what became of it; what is still to be asked is an empty one. */
import { useLayoutEffect, useRef, useState, type MouseEvent } from 'react';
import type { LatestResult } from '@/api/documents';
import './charts.css';

type Mark = LatestResult['mark'];

export const CELL = 10;

/** The shape of a dot, drawn from its upper left corner. */
const SHAPE: Readonly<Record<Mark | 'pending', (x: number, y: number) => string>> = {
  right: (x, y) => `M${x} ${y}h8v8h-8z`,
  partial: (x, y) => `M${x} ${y + 4}h8v4h-8z`,
  wrong: (x, y) => `M${x + 2} ${y + 2}h4v4h-4z`,
  invalid: (x, y) => `M${x + 4} ${y}l4 4l-4 4l-4 -4z`,
  failed: (x, y) => `M${x} ${y}h2l2 2.6l2 -2.6h2l-3 4l3 4h-2l-2 -2.6l-2 2.6h-2l3 -4z`,
  pending: (x, y) => `M${x} ${y}h8v8h-8zm1 1v6h6v-6z`,
};
/** What a mark is called. */
export const MARK_TEXT = {
  right: 'mark.right',
  partial: 'mark.partial',
  wrong: 'mark.wrong',
  invalid: 'outcome.invalid',
  failed: 'outcome.failed',
} as const;
export const MARKS = ['right', 'partial', 'wrong', 'invalid', 'failed'] as const;

/** One path for each kind of dot, however many there are. */
export function pathsOf(marks: readonly Mark[], pending: number, columns: number): Partial<Record<string, string>> {
  const paths: Partial<Record<string, string>> = {};
  for (let place = 0; place < marks.length + pending; place += 1) {
    const kind = marks[place] ?? 'pending';
    const x = (place % columns) * CELL;
    const y = Math.floor(place / columns) * CELL;
    paths[kind] = (paths[kind] ?? '') + SHAPE[kind](x, y);
  }
  return paths;
}

export function DotOf({ mark }: { mark: Mark | 'pending' }) {
  return (
    <svg className="dot-sample" viewBox="0 0 8 8" width="8" height="8" aria-hidden="true">
      <path className={`dots-${mark}`} d={SHAPE[mark](0, 0)} />
    </svg>
  );
}

interface Props {
  label: string;
  results: readonly LatestResult[];
  pending: number;
  open: (result: string) => void;
}

export function DotStrip({ label, results, pending, open }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const [columns, setColumns] = useState(10);
  useLayoutEffect(() => {
    const shown = frame.current;
    if (!shown) return;
    const measure = () => setColumns(Math.max(10, Math.floor(shown.clientWidth / CELL)));
    const observer = new ResizeObserver(measure);
    observer.observe(shown);
    measure();
    return () => observer.disconnect();
  }, []);
  const rows = Math.ceil((results.length + pending) / columns);
  const paths = pathsOf(
    results.map(({ mark }) => mark),
    pending,
    columns,
  );
  const at = (event: MouseEvent<SVGSVGElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top].map((one) => Math.floor(one / CELL));
    return results[(y ?? 0) * columns + (x ?? 0)];
  };
  return (
    <div ref={frame}>
      <svg
        className="dot-strip"
        role="img"
        aria-label={label}
        width={columns * CELL}
        height={rows * CELL}
        onClick={(event) => {
          const found = at(event);
          if (found) open(found.result_id);
        }}
      >
        {Object.entries(paths).map(([kind, d]) => (
          <path key={kind} className={`dots-${kind}`} d={d} />
        ))}
      </svg>
    </div>
  );
}
