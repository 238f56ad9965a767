/** The words on screen in the reader's language; `t('run.trials', { n: 3 })`. */
import { useSyncExternalStore } from 'react';
import { en } from './en';

export type TextKey = keyof typeof en;
export type Texts = Readonly<Record<TextKey, string>>;
export type Language = 'en' | 'ja' | 'de';
export const LANGUAGES: Readonly<Record<Language, string>> = { en: 'English', ja: '日本語', de: 'Deutsch' };

const KEY = 'proctor.language';
const listeners = new Set<() => void>();
let texts: Texts = en;
let current: Language = 'en';

const isLanguage = (value: string | null | undefined): value is Language =>
  value === 'en' || value === 'ja' || value === 'de';

export function wantedLanguage(): Language {
  const stored = localStorage.getItem(KEY);
  if (isLanguage(stored)) return stored;
  const first = navigator.language.split('-')[0];
  return isLanguage(first) ? first : 'en';
}

export async function loadLanguage(language: Language): Promise<void> {
  if (language === 'ja') texts = (await import('./ja')).ja;
  else if (language === 'de') texts = (await import('./de')).de;
  else texts = en;
  current = language;
  document.documentElement.lang = language;
  listeners.forEach((listener) => listener());
}

export async function chooseLanguage(language: Language): Promise<void> {
  localStorage.setItem(KEY, language);
  await loadLanguage(language);
}

export function useLanguage(): Language {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
}

export function t(key: TextKey, values: Readonly<Record<string, string | number>> = {}): string {
  return texts[key].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** The key's text for one, or the one for several: `run.trials.one`, `run.trials.other`. */
/** Whether there are words for what a server calls by a name of its own. */
export const hasText = (key: string): key is TextKey => key in en;

export function plural(key: PluralKey, n: number, shown: string = n.toLocaleString('en-US')): string {
  return t(`${key}.${n === 1 ? 'one' : 'other'}` as TextKey, { n: shown });
}
type PluralKey = TextKey extends infer Key ? (Key extends `${infer Stem}.other` ? Stem : never) : never;
