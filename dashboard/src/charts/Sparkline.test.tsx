import { render } from '@testing-library/react';
import { expect, it } from 'vitest';
import { Axis } from './IntervalCell';
import { scaleOf } from './scale';
import { Sparkline } from './Sparkline';

const estimate = (value: number) => ({ metric: 'accuracy', value, ci95: [value - 0.05, value + 0.05], n: 90 });

it('no run of a history stands where the values of the ticks are written', () => {
  const points = [0.7, 0.8, 0.6].map((value, index) => ({
    run: `run${index}`,
    when: '2026-11-19T00:00:00Z',
    estimate: estimate(value) as never,
    digest: 'same',
    model: 'demo/weak',
  }));
  const { container } = render(<Sparkline title="demo/weak" points={points} />);
  const places = [...container.querySelectorAll('circle')].map((one) => parseFloat(one.getAttribute('cx') ?? ''));
  expect(places).toHaveLength(3);
  expect(Math.max(...places)).toBeLessThan(88);
});

it('an axis says whether its texts are too long to stand side by side', () => {
  const isLong = (values: number[]) =>
    render(<Axis scale={scaleOf(values)} />)
      .container.querySelector('svg')
      ?.classList.contains('long');
  expect(isLong([0.004, 0.105])).toBe(true);
  expect(isLong([0.2, 0.9])).toBe(false);
});
