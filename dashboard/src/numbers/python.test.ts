import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as rounding from './rounding';
import * as text from './text';

/** Each name with what Python's function of that name makes of a value; written by tests/dashboard/test_figures.py. */
type Cases = Readonly<Record<string, readonly (readonly [number, string])[]>>;

const forms: Readonly<Record<string, (value: number) => string>> = {
  decimal_text: (value) => rounding.decimalText(value),
  difference_text: rounding.differenceText,
  figure_text: (value) => rounding.figureText(value),
  percent_text: (value) => rounding.percentText(value),
  p_text: rounding.pText,
  seconds_text: text.secondsText,
  cost_text: (value) => text.costText(value, 'computed'),
  small_cost_text: (value) => text.smallCostText(value),
};

const file = process.env['PROCTOR_FIGURES'];
describe.skipIf(file === undefined)('figures are written as the command line writes them', () => {
  const cases = JSON.parse(file === undefined ? '{}' : readFileSync(file, 'utf8')) as Cases;
  it.each(Object.keys(cases))('%s', (name) => {
    const form = forms[name];
    for (const [value, wanted] of cases[name] ?? []) expect(form?.(value), `${name}(${value})`).toBe(wanted);
  });
});

it('a tie goes to the even digit, as in Python', () => {
  expect([0.0625, 0.8125, 0.1875, -0.0625].map((value) => rounding.fixed(value, 3))).toEqual([
    '0.062',
    '0.812',
    '0.188',
    '-0.062',
  ]);
});

it('what is nearly all is not shown as all', () => {
  expect(rounding.decimalText(2999 / 3000)).toBe('0.9997');
  expect(rounding.percentText(0.99999)).toBe('99.999 %');
});
