/** Which theme is shown: the one chosen here, or what the system asks for. */
import { useSyncExternalStore } from 'react';

export type ThemeChoice = 'system' | 'light' | 'dark';
export const THEMES: readonly ThemeChoice[] = ['system', 'light', 'dark'];

const KEY = 'proctor.theme';
const listeners = new Set<() => void>();
const prefersDark = () => globalThis.matchMedia('(prefers-color-scheme: dark)').matches;

export function themeChoice(): ThemeChoice {
  const stored = localStorage.getItem(KEY);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

export function applyTheme(): void {
  const choice = themeChoice();
  document.documentElement.dataset.theme = choice === 'system' ? (prefersDark() ? 'dark' : 'light') : choice;
}

export function chooseTheme(choice: ThemeChoice): void {
  localStorage.setItem(KEY, choice);
  applyTheme();
  listeners.forEach((listener) => listener());
}

export function watchTheme(): void {
  applyTheme();
  globalThis.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', applyTheme);
}

export function useThemeChoice(): ThemeChoice {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, themeChoice);
}
