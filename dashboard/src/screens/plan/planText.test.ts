import { expect, it } from 'vitest';
import { readPlan, takenText } from './planText';

const PLAN = 'name: x\nmodels:\n  - demo/strong\nbenchmarks:\n  - benchmark: nope\n    limit: 5\n';

it('a mistake that the server names by a pointer is found in the text', () => {
  const plan = readPlan(PLAN);
  if ('mistakes' in plan) throw new Error('the plan can be read');
  const { from, to, line } = plan.locate('/benchmarks/0/benchmark', 'There is none.');
  expect([PLAN.slice(from, to), line]).toEqual(['nope', 5]);
  expect(plan.locate('/models/0', '').line).toBe(3);
  expect(plan.locate('/nothing/here', '').line).toBe(1);
});

it('what is no YAML has its own place', () => {
  const plan = readPlan('name: [unclosed\n');
  expect('mistakes' in plan && plan.mistakes[0]?.line).toBeGreaterThan(0);
});

it('an alias bomb is refused', () => {
  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x,x]',
    ...'bcdefg'
      .split('')
      .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefg'[index]}`).join(',')}]`),
  ].join('\n');
  expect('mistakes' in readPlan(bomb)).toBe(true);
});

it('an alternative that is taken says no longer what had no data, so it can be run', () => {
  const plan = { models: ['demo/strong'], benchmarks: ['jmmlu'], gaps: ['There is no law in Thai.'] };
  expect(readPlan(takenText(plan))).toMatchObject({ value: { models: ['demo/strong'], benchmarks: ['jmmlu'] } });
  expect(takenText(plan)).not.toContain('gaps');
});
