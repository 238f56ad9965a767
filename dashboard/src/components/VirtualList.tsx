/** A list of any length: only what is seen is in the page, and the scrollbar is scaled to what browsers allow. */
import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';

/** Chromium cuts elements off at 33,554,428 px; Firefox sooner. */
export const TALLEST = 8_000_000;
const BESIDE = 4;

interface VirtualListProps {
  label: string;
  count: number;
  rowHeight: number;
  at: number;
  row: (index: number) => ReactNode;
  nearEnd?: (() => void) | undefined;
  seen?: (first: number, last: number) => void;
}

/** The first row at a scroll position, with a fraction: exact while the list fits, scaled where it does not. */
export function firstRow(scrollTop: number, count: number, rowHeight: number, height: number): number {
  const whole = count * rowHeight;
  const tall = Math.min(whole, TALLEST);
  if (tall <= height) return 0;
  return ((scrollTop / (tall - height)) * (whole - height)) / rowHeight;
}

export function scrollTopOf(first: number, count: number, rowHeight: number, height: number): number {
  const whole = count * rowHeight;
  const tall = Math.min(whole, TALLEST);
  return whole <= height ? 0 : ((first * rowHeight) / (whole - height)) * (tall - height);
}

export function VirtualList({ label, count, rowHeight, at, row, nearEnd, seen }: VirtualListProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const first = firstRow(view.top, count, rowHeight, view.height);
  const visible = Math.ceil(view.height / rowHeight);
  const from = Math.max(0, Math.floor(first) - BESIDE);
  const to = Math.min(count, Math.floor(first) + visible + BESIDE + 1);
  const tall = Math.min(count * rowHeight, TALLEST);

  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return;
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const height = element.clientHeight;
    const top = firstRow(element.scrollTop, count, rowHeight, height);
    const rows = height / rowHeight;
    if (at < top) element.scrollTop = scrollTopOf(at, count, rowHeight, height);
    else if (at + 1 > top + rows) element.scrollTop = scrollTopOf(at + 1 - rows, count, rowHeight, height);
  }, [at, count, rowHeight]);

  useEffect(() => {
    if (to >= count) nearEnd?.();
  }, [to, count, nearEnd]);
  useEffect(() => seen?.(from, to), [from, to, seen]);

  const wheel = (event: KeyboardEvent) => {
    if (event.key === 'Home' || event.key === 'End') {
      event.preventDefault();
      if (frame.current) frame.current.scrollTop = event.key === 'Home' ? 0 : frame.current.scrollHeight;
    }
  };
  return (
    <div
      className="virtual-list"
      ref={frame}
      role="list"
      aria-label={label}
      tabIndex={0}
      onKeyDown={wheel}
      onScroll={(event) => setView({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })}
    >
      <div style={{ height: tall, position: 'relative' }} role="presentation">
        {Array.from({ length: Math.max(0, to - from) }, (_, offset) => {
          const index = from + offset;
          return (
            <div
              key={index}
              role="listitem"
              aria-setsize={count}
              aria-posinset={index + 1}
              style={{
                position: 'absolute',
                left: 0,
                right: 0,
                height: rowHeight,
                top: view.top + (index - first) * rowHeight,
              }}
            >
              {row(index)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
