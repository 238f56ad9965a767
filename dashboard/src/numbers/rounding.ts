/** Numbers as text, digit for digit as the command line writes them (src/proctor/metrics/rounding.py). */

const SAME = 1e-9;
const MAX_DIGITS = 12;
const SMALLEST_P = 0.0005;
const ALPHA = 0.05;

/** Like Python's `format(value, '.3f')`: a tie goes to the even digit, where `toFixed` takes the larger. */
export function fixed(value: number, places: number): string {
  const text = value.toFixed(places);
  const exact = value.toFixed(Math.min(places + 25, 100));
  const cut = exact.length - Math.min(25, 100 - places);
  if (!/^50*$/.test(exact.slice(cut))) return text;
  const floor = places === 0 ? exact.slice(0, cut).replace(/\.$/, '') : exact.slice(0, cut);
  return Number(floor.at(-1)) % 2 === 0 ? floor : text;
}

/** Like Python's `format(value, '.3g')`. */
export function significant(value: number, digits: number): string {
  if (value === 0) return '0';
  const exponent = Number(value.toExponential(digits - 1).split('e')[1]);
  if (exponent < -4 || exponent >= digits) {
    const [mantissa = '', power = '0'] = value.toExponential(digits - 1).split('e');
    const bare = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
    const size = Math.abs(Number(power)).toString().padStart(2, '0');
    return `${bare}e${Number(power) < 0 ? '-' : '+'}${size}`;
  }
  const text = fixed(value, digits - 1 - exponent);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

const side = (shown: number, limit: number) => (Math.abs(shown - limit) <= SAME / 10 ? 0 : shown > limit ? 1 : -1);

function firstTrue(value: number, limits: readonly number[], forms: readonly ((value: number) => string)[]): string {
  // Adding 0 takes the sign from a zero.
  const exact = (limits.find((limit) => Math.abs(limit - value) <= SAME) ?? value) + 0;
  let text = '';
  for (const form of forms) {
    text = form(exact);
    const shown = Number(text);
    if (limits.every((limit) => side(shown, limit) === side(exact, limit))) break;
  }
  return text;
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

/** With so many decimals, and with more where fewer would put it on another side of a limit, or on it. */
export function decimalText(value: number, places = 3, limits: readonly number[] = [0, 1], sign = false): string {
  const forms = range(places, MAX_DIGITS).map((digits) => (exact: number) => {
    const text = fixed(exact, digits);
    return sign && !text.startsWith('-') ? `+${text}` : text;
  });
  return firstTrue(value, limits, forms);
}

export function figureText(value: number, digits = 4): string {
  const forms = range(digits, MAX_DIGITS + 5).map((more) => (exact: number) => significant(exact, more));
  return firstTrue(value, [0, 1], forms);
}

export const differenceText = (value: number) => decimalText(value, 3, [-1, 0, 1], true);

/** A difference in points with its sign: +3.1 for 0.031. */
export const pointsText = (difference: number) => decimalText(100 * difference, 1, [-100, 0, 100], true);

export const percentText = (share: number, places = 1) => `${decimalText(100 * share, places, [0, 100])} %`;

export const pText = (value: number) => (value < SMALLEST_P ? '< 0.001' : decimalText(value, 3, [0, ALPHA, 1]));
