/** Figures with their units, as every report writes them (src/proctor/reports/figures.py). */
import { decimalText, fixed, significant } from './rounding';

export const NOT_MEASURED = '–';

export const countText = (count: number) => count.toLocaleString('en-US');

export function secondsText(seconds: number): string {
  if (seconds > 0 && seconds < 0.0009995) return `${significant(seconds * 1_000_000, 3)} µs`;
  if (seconds < 0.9995) return `${significant(seconds * 1000, 3)} ms`;
  if (seconds < 120) return `${significant(seconds, 3)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${countText(Math.floor(minutes / 60))} h ${minutes % 60} min`;
}

const EXACT = ['reported', 'free'];
const TINY_USD = 0.0001;

const sign = (usd: number, basis: string) => (EXACT.includes(basis) || usd === 0 ? '' : '≈');

function tiny(usd: number): string | null {
  if (!(usd > 0 && usd < TINY_USD)) return null;
  const exponent = Number(usd.toExponential(1).split('e')[1]);
  return usd.toFixed(Math.min(1 - exponent, 100));
}

/** `$0.1234` where the provider said so, `≈$0.1234` where it was computed. */
export const costText = (usd: number, basis = 'reported') => `${sign(usd, basis)}$${tiny(usd) ?? fixed(usd, 4)}`;

export function smallCostText(usd: number, basis = 'reported'): string {
  return `${sign(usd, basis)}$${tiny(usd) ?? (usd < 1000 ? significant(usd, 3) : fixed(usd, 2))}`;
}

export const intervalText = (interval: readonly [number, number]) =>
  `[${interval.map((end) => decimalText(end)).join(', ')}]`;

export function bytesText(size: number): string {
  for (const [unit, power] of [
    ['GiB', 30],
    ['MiB', 20],
    ['KiB', 10],
  ] as const) {
    if (size >= 2 ** power) return `${significant(size / 2 ** power, 3)} ${unit}`;
  }
  return `${size} B`;
}

/** How long ago, in the reader's language. */
export function agoText(when: Date, now: Date, language: string): string {
  // By a clock that is ahead of this one, it was just now.
  const seconds = Math.min(0, Math.round((when.getTime() - now.getTime()) / 1000));
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });
  const size = Math.abs(seconds);
  if (size < 60) return format.format(seconds, 'second');
  if (size < 3600) return format.format(Math.round(seconds / 60), 'minute');
  if (size < 86_400) return format.format(Math.round(seconds / 3600), 'hour');
  return format.format(Math.round(seconds / 86_400), 'day');
}
