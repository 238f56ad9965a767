import { expect, it } from 'vitest';
import { isResultId, pageOf } from './results';
import { queryOf } from '@/screens/samples/filters';
import { messagesOf } from '@/screens/samples/Prompt';

it('a result is on the last page that begins before it', () => {
  const after = ['0', '100', '250', '9007199254740993'];
  expect(['1', '100', '101', '250', '251'].map((id) => pageOf(after, id))).toEqual([0, 0, 1, 1, 2]);
  // Larger than a double can tell apart.
  expect([pageOf(after, '9007199254740993'), pageOf(after, '9007199254740994')]).toEqual([2, 3]);
});

it('an address names a result by its number, or a sample by its name', () => {
  expect(['12', '0', '012', 'dates-1', '', null].map(isResultId)).toEqual([true, false, false, false, false, false]);
});

it('what is no number in an address is left out, not refused', () => {
  const query = queryOf(new URLSearchParams('latency=abc&cost=-1&tokens=2.5&mark=zero&disputed=1&x=y'), true);
  expect(query).toMatchObject({ latency_from: null, cost_from: null, tokens_from: 3, score_to: 0, epoch: 0 });
  expect(query.disputed).toBe('true');
  expect(queryOf(new URLSearchParams('mark=nonsense'), false)).toMatchObject({ epoch: null, outcome: null });
});

it('a prompt of any shape is messages, or none', () => {
  const prompt = {
    messages: [
      { role: 'user', content: 'a' },
      { role: 'user', content: [{ type: 'image' }] },
    ],
  };
  expect(messagesOf(prompt).map((one) => one.text)[0]).toBe('a');
  expect(messagesOf(prompt)[1]?.text).toContain('image');
  expect([null, undefined, 'x', { messages: 'x' }].map((one) => messagesOf(one).length)).toEqual([0, 0, 0, 0]);
});
