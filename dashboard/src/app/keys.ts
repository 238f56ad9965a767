/** Keys that work now; `?` lists them. A key does nothing while text is being typed. */
import { useEffect, useRef, useSyncExternalStore } from 'react';

export interface KeyBinding {
  key: string;
  label: string;
  run: () => void;
}

let active: readonly (readonly KeyBinding[])[] = [];
const listeners = new Set<() => void>();

function change(next: typeof active): void {
  active = next;
  listeners.forEach((listener) => listener());
}

export const useActiveKeys = () =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => active,
  );

/** Makes the keys work while the component is shown; what was added last is asked first. */
export function useKeys(bindings: readonly KeyBinding[]): void {
  const latest = useRef(bindings);
  useEffect(() => {
    latest.current = bindings;
  });
  const shape = bindings.map((one) => `${one.key}\t${one.label}`).join('\n');
  useEffect(() => {
    const stable =
      shape === ''
        ? []
        : shape.split('\n').map((line, index): KeyBinding => {
            const [key = '', label = ''] = line.split('\t');
            return { key, label, run: () => latest.current[index]?.run() };
          });
    change([...active, stable]);
    return () => change(active.filter((one) => one !== stable));
  }, [shape]);
}

export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement && ['checkbox', 'radio'].includes(target.type)) return false;
  return (
    target.isContentEditable || target.shadowRoot !== null || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)
  );
}

export function handleKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (document.querySelector('dialog[open]')) return;
  for (const bindings of [...active].reverse()) {
    const found = bindings.find((one) => one.key === event.key);
    if (found) {
      event.preventDefault();
      found.run();
      return;
    }
  }
}
