import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';
import { Wide } from './Basics';
import { Cost, Estimate } from './Figures';
import { Foreign, visibleParts } from './Foreign';
import { firstRow, scrollTopOf, TALLEST } from './VirtualList';
import { wordParts } from './WordDifference';

afterEach(cleanup);

it('markup in an answer stays text', () => {
  const hostile = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';
  const { container } = render(<Foreign text={hostile} />);
  expect(container.textContent).toBe(hostile);
  expect(container.querySelector('img, script')).toBeNull();
});

it('characters that steer text are made visible', () => {
  const shown = visibleParts('a\u202eb\u0000c\ud800\n').map(({ text }) => text);
  expect(shown).toEqual(['a', '\\u202e', 'b', '\\u0000', 'c', '\\ud800', '\n']);
});

it('a long text is cut, and says how long it is', () => {
  const { container } = render(<Foreign text={'x'.repeat(1234)} limit={1000} />);
  expect(container.textContent).toContain('1,000 of 1,234');
});

it('a figure has its interval and n, and every digit of the number in its title', () => {
  const estimate = {
    value: 0.9166666666666666,
    ci95: [0.8194, 0.9639] as [number, number],
    n: 60,
    stderr: null,
    method: 'wilson',
  };
  const { container } = render(<Estimate estimate={estimate} />);
  expect(container.textContent).toBe('0.917 [0.819, 0.964] n=60');
  expect(container.querySelector('.value')?.getAttribute('title')).toBe('0.9166666666666666');
});

it('a dash says why to those who see and those who listen', () => {
  render(<Cost usd={null} basis="unknown" />);
  const dash = screen.getByRole('img');
  expect([dash.textContent, dash.getAttribute('aria-label'), dash.tabIndex]).toEqual(['–', 'A price is not known.', 0]);
});

it('every row of a million can be reached by the scrollbar', () => {
  const [count, rowHeight, height] = [1_000_000, 58, 640];
  const bottom = TALLEST - height;
  expect(firstRow(0, count, rowHeight, height)).toBe(0);
  expect(firstRow(bottom, count, rowHeight, height)).toBeCloseTo(count - height / rowHeight, 6);
  for (const row of [1, 499_999, 999_980]) {
    expect(firstRow(scrollTopOf(row, count, rowHeight, height), count, rowHeight, height)).toBeCloseTo(row, 4);
  }
});

it('only the words that differ are marked', () => {
  const { a, b } = wordParts('three robes take 9 bolts', 'three robes take 7.5 bolts');
  expect(a.filter((part) => part.differs).map((part) => part.text.trim())).toEqual(['9']);
  expect(b.map((part) => part.text).join('')).toBe('three robes take 7.5 bolts');
});

it('each cell of a table knows its column, behind cells that are wider than one as well', () => {
  const { container } = render(
    <Wide label="spent">
      <table>
        <thead>
          <tr>
            <th>Model</th>
            <th>Tokens</th>
            <th>Cost</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <td>a</td>
            <td>1</td>
            <td>2</td>
          </tr>
          <tr>
            <th colSpan={2}>Total</th>
            <td>3</td>
          </tr>
        </tbody>
      </table>
    </Wide>,
  );
  const cells = [...container.querySelectorAll('tbody td, tbody th')];
  expect(cells.map((cell) => cell.getAttribute('data-column'))).toEqual(['Model', 'Tokens', 'Cost', '', 'Cost']);
});
