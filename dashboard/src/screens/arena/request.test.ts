import { expect, it } from 'vitest';
import { grown } from '@/api/playground';
import type { PlaygroundAsk } from '@/api/documents';
import { bodyOf, continued, EMPTY_FORM, FormMistake, promptsOf, type SentFile } from './request';

const form = { ...EMPTY_FORM, models: ['demo/strong'] };
const file = (kind: SentFile['kind']): SentFile => ({ name: `a.${kind}`, data: 'AA==', kind, bytes: 1 });

it('a line of dashes begins another prompt', () => {
  expect(promptsOf('one\n---\n two\nlines \n---\n')).toEqual(['one', 'two\nlines']);
  expect(promptsOf(' ')).toEqual(['']);
  expect(promptsOf('a --- b')).toEqual(['a --- b']);
});

it('what is left empty is not sent', () => {
  expect(bodyOf(form, 'hello', [])).toEqual({ kind: 'text', models: ['demo/strong'], prompt: 'hello' });
  const full = { ...form, temperature: '0', maxTokens: '10', costUsd: '0.5', system: 'Be short.', isBlind: true };
  expect(bodyOf(full, 'hello', [])).toMatchObject({
    options: { temperature: 0, max_tokens: 10 },
    cost_usd: 0.5,
    system: 'Be short.',
    is_blind: true,
  });
});

it('the files decide the kind, and kinds are not mixed', () => {
  expect(bodyOf(form, 'x', [file('image')])).toMatchObject({ kind: 'image', images: [{ name: 'a.image' }] });
  expect(bodyOf(form, 'x', [file('pdf')])).toMatchObject({ kind: 'pdf', documents: [{ data: 'AA==' }] });
  expect(() => bodyOf(form, 'x', [file('pdf'), file('image')])).toThrow(FormMistake);
  expect(() => bodyOf({ ...form, input: '{}' }, 'x', [file('text')])).toThrow(FormMistake);
});

it('structured input is JSON, and so is its schema', () => {
  const structured = { ...form, input: '{"n": 1}', inputSchema: '{"type": "object"}' };
  expect(bodyOf(structured, 'x', [])).toMatchObject({ kind: 'structured', input: { n: 1 } });
  expect(() => bodyOf({ ...structured, input: '{' }, 'x', [])).toThrow('json');
  expect(() => bodyOf({ ...form, temperature: 'warm' }, 'x', [])).toThrow('number');
});

it('turns before the prompt and tools are sent, empty ones are not, and tools are a list', () => {
  const history = [
    { role: 'user', text: 'hello' },
    { role: 'assistant', text: ' ' },
  ] as const;
  const tools = '[{"type": "function"}]';
  expect(bodyOf({ ...form, history, tools }, 'x', [])).toMatchObject({
    history: [{ role: 'user', text: 'hello' }],
    tools: [{ type: 'function' }],
  });
  expect(() => bodyOf({ ...form, tools: '{}' }, 'x', [])).toThrow('tools');
});

it('going on from an answer puts what was said before the next prompt', () => {
  const ask = {
    request: { models: ['demo/strong'], prompt: 'again?', history: [{ role: 'user', text: 'hello' }] },
    answers: [{ answer: 'a', text: 'yes' }],
    is_blind: false,
  } as unknown as PlaygroundAsk;
  expect(continued(ask, 'a')).toMatchObject({
    prompt: '',
    history: [
      { role: 'user', text: 'hello' },
      { role: 'user', text: 'again?' },
      { role: 'assistant', text: 'yes' },
    ],
  });
  expect(continued(ask, 'z').prompt).toBe('again?');
});

it('an answer grows by its deltas, and a text at its end takes their place', () => {
  const begun = grown({ state: 'waiting', text: '' }, 'start', { model: 'm' });
  const more = grown(grown(begun, 'delta', { text: 'a' }), 'delta', { text: 'b', reasoning: 'why' });
  expect(more).toMatchObject({ model: 'm', text: 'ab', reasoning: 'why', state: 'streaming' });
  expect(grown(more, 'complete', { state: 'complete' })).toMatchObject({ text: 'ab', state: 'complete' });
  expect(grown(more, 'complete', { state: 'complete', text: 'c' }).text).toBe('c');
});
