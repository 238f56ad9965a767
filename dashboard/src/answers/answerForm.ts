/** Whether answers are shown as text or as Markdown: chosen once, kept in the browser. */
import { useSyncExternalStore } from 'react';

export type AnswerForm = 'text' | 'markdown';
export const ANSWER_FORMS: readonly AnswerForm[] = ['text', 'markdown'];

const KEY = 'proctor.answers';
const listeners = new Set<() => void>();

const answerForm = (): AnswerForm => (localStorage.getItem(KEY) === 'markdown' ? 'markdown' : 'text');

export function chooseAnswerForm(form: AnswerForm): void {
  localStorage.setItem(KEY, form);
  listeners.forEach((listener) => listener());
}

export function useAnswerForm(): AnswerForm {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, answerForm);
}

/** Reading Markdown takes about 17 ms per 1,000 characters, in which the page does nothing else. */
export const MAX_CHARACTERS = 50_000;
/** Marks of emphasis that close nothing take quadratic time: 10,000 of them 3.6 s. */
const MAX_EMPHASIS = 2_000;
const TOO_DEEP = /^(?:[ \t]*(?:[>*+-]|\d{1,9}[.)])){50}/m;

/** Why an answer stays text; null where it can be shown as Markdown. */
export function reasonForText(text: string, characters = text.length): 'answer.too-long' | 'answer.too-deep' | null {
  if (characters > MAX_CHARACTERS) return 'answer.too-long';
  if (TOO_DEEP.test(text)) return 'answer.too-deep';
  const marks = text.match(/[*_~]+/g)?.length ?? 0;
  return marks > MAX_EMPHASIS ? 'answer.too-deep' : null;
}
