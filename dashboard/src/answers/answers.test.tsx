import { readFileSync } from 'node:fs';
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Answer, AnswerFormSwitch } from './Answer';
import { MAX_CHARACTERS, reasonForText } from './answerForm';
import { hiddenPlace, linkAddress } from './markdownTree';
import MarkdownText from './MarkdownText';

const { scripts, wrappings } = JSON.parse(readFileSync('../tests/dashboard/hostile.json', 'utf8')) as {
  scripts: string[];
  wrappings: string[];
};
const PAYLOADS = wrappings.flatMap((wrapping) => scripts.map((script) => wrapping.replace('{}', () => script)));
const ALLOWED = /^(P|BLOCKQUOTE|[OU]L|LI|HR|BR|PRE|CODE|SAMP|EM|STRONG|DEL|SUP|A|TABLE|THEAD|TBODY|TR|T[HD]|SPAN|DIV)$/;

const shown = (text: string) => render(<MarkdownText text={text} />).container;

beforeEach(() => localStorage.clear());
afterEach(cleanup);

it('two hundred hostile texts as Markdown make nothing that runs, asks or leads elsewhere than it says', () => {
  expect(PAYLOADS).toHaveLength(200);
  for (const payload of PAYLOADS) {
    const container = shown(payload);
    for (const one of container.querySelectorAll('*')) {
      expect(one.tagName, payload).toMatch(ALLOWED);
      const names = one.getAttributeNames().filter((name) => !['class', 'dir', 'tabindex'].includes(name));
      const isLink = one.tagName === 'A';
      const expected = isLink ? /^(href|target|rel)$/ : /^(role|aria-label|start|style)$/;
      for (const name of names) expect(name, payload).toMatch(expected);
      if (isLink) expect(one.getAttribute('href'), payload).toMatch(/^https?:\/\/attacker\.example\//);
      expect(one.getAttribute('style') ?? '').toMatch(/^(text-align: ?\w+;?)?$/);
    }
    cleanup();
  }
});

it('markup stays the text it is, in a line and between lines', () => {
  expect(shown('a <b onclick="x()">b</b> c').textContent).toBe('a <b onclick="x()">b</b> c');
  const block = shown('<script>\nwindow.hit=1\n</script>');
  expect(block.querySelector('pre')?.textContent.trim()).toBe('<script>\nwindow.hit=1\n</script>');
});

it.each([
  ['![chart](https://pixel.example:8443/a.png?secret)', '[image: pixel.example:8443] chart'],
  ['![](//pixel.example/a.png)', '[image: pixel.example]'],
  ['![](data:image/svg+xml,<svg>)', '[image: data:]'],
  ['![local](/api/v1/runs)', '[image] local'],
  ['![x][1]\n\n[1]: http://pixel.example/a', '[image: pixel.example] x'],
])('the picture %s is its host in words', (text, words) => {
  const container = shown(text);
  expect(container.querySelector('img')).toBeNull();
  expect(container.querySelector('samp')?.textContent).toBe(words);
});

it.each([
  'javascript:alert(1)',
  'JAVA&#x53;CRIPT:alert(1)',
  'data:text/html,x',
  '/runs',
  '//other.example/x',
  '#top',
  'ftp://a.example/',
])('a link to %s is only its text', (address) => {
  const container = shown(`[click](<${address}>)`);
  expect(container.querySelector('a')).toBeNull();
  expect(container.textContent).toBe('click');
});

it('a link says where it leads when its text does not', () => {
  const link = shown('[https://bank.example](https://thief.example/a)').querySelector('a');
  expect(link?.textContent).toBe('https://bank.example (thief.example)');
  expect([link?.rel, link?.target]).toEqual(['noreferrer noopener', '_blank']);
  expect(shown('<https://bank.example/a>').textContent).toBe('https://bank.example/a');
  const place = (text: string, address: string) => hiddenPlace(text, linkAddress(address) as URL);
  expect(place('bank.example/help', 'https://bank.example/help')).toBeNull();
  expect(place('https://bank.example@thief.example', 'https://bank.example@thief.example')).toBe('thief.example');
  expect(place('b\u0430nk.example', 'https://b\u0430nk.example')).toBe('xn--bnk-6cd.example');
  expect(place('write to us', 'mailto:ada@bank.example?body=x')).toBe('ada@bank.example');
});

it('characters that steer the page are visible, those written as entities too', () => {
  expect(shown('a&#x202e;b \u200b').textContent).toBe('a\\u202eb \\u200b');
});

it('an answer makes no heading of the page, and a table and code scroll by themselves', () => {
  const container = shown('# One\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n```py\nx\n```\n\n- [x] done');
  expect(container.querySelector('h1, h2, h3')).toBeNull();
  expect(container.querySelectorAll('[role=group][tabindex="0"]')).toHaveLength(2);
  expect(container.querySelector('input')).toBeNull();
  expect(container.textContent).toContain('[x] done');
});

it('text is shown until somebody chooses Markdown, which is kept', async () => {
  const { container } = render(
    <>
      <AnswerFormSwitch />
      <Answer text="**bold**" />
    </>,
  );
  expect(container.querySelector('.foreign')?.textContent).toBe('**bold**');
  await act(async () => {
    fireEvent.click(screen.getByRole('button', { name: 'Markdown' }));
    await import('./MarkdownText');
  });
  expect((await screen.findByText('bold')).tagName).toBe('STRONG');
  expect(localStorage.getItem('proctor.answers')).toBe('markdown');
});

it.each([
  ['x'.repeat(MAX_CHARACTERS + 1), 'Markdown is shown up to 50,000 characters'],
  ['*a_ '.repeat(1_500), 'nested or marked too much'],
  ['> '.repeat(1_000) + 'x', 'nested or marked too much'],
])('what would take too long to read as Markdown stays text and says so', (text, words) => {
  localStorage.setItem('proctor.answers', 'markdown');
  const { container } = render(<Answer text={text} />);
  expect(container.querySelector('.markdown')).toBeNull();
  expect(container.textContent).toContain(words);
});

it('ordinary emphasis is not too much', () => {
  expect(reasonForText('a **bold** word\n'.repeat(500))).toBeNull();
});
