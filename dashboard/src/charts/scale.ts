/** Places on an axis, in percent of its width, so that a chart needs no script to fit its page. */

export interface Scale {
  low: number;
  high: number;
  ticks: readonly number[];
}

const STEPS = [1, 2, 2.5, 5, 10];

export function scaleOf(
  values: readonly number[],
  options: { wanted?: number; clamp?: readonly [number, number]; zero?: boolean } = {},
): Scale {
  const { wanted = 5, clamp } = options;
  const known = options.zero ? [...values, 0] : [...values];
  let low = Math.min(...known);
  let high = Math.max(...known);
  if (!Number.isFinite(low) || !Number.isFinite(high)) return { low: 0, high: 1, ticks: [0, 0.5, 1] };
  if (high - low < 1e-9) [low, high] = [low - 0.05, high + 0.05];
  const raw = (high - low) / wanted;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = size * (STEPS.find((one) => one * size >= raw) ?? 10);
  low = Math.floor(low / step + 1e-9) * step;
  high = Math.ceil(high / step - 1e-9) * step;
  if (clamp) [low, high] = [Math.max(low, clamp[0]), Math.min(high, clamp[1])];
  const count = Math.round((high - low) / step);
  const ticks = Array.from({ length: count + 1 }, (_, index) => Number((low + index * step).toPrecision(12)));
  return { low, high, ticks };
}

export function place(scale: Scale, value: number): number {
  const share = (value - scale.low) / (scale.high - scale.low || 1);
  return Math.min(1, Math.max(0, share)) * 100;
}

export const percent = (scale: Scale, value: number) => `${place(scale, value)}%`;

export const tickText = (value: number) => Number(value.toPrecision(6)).toString().replace('-', '−');
