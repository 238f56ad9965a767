/** What is being typed outlives a reload and a session that ends; files are not kept. */
import { EMPTY_FORM, type AskForm } from './request';

const KEY = 'proctor.ask';

export function readForm(): AskForm | null {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? 'null');
    return typeof found === 'object' && found !== null ? { ...EMPTY_FORM, ...(found as Partial<AskForm>) } : null;
  } catch {
    return null;
  }
}

export const writeForm = (form: AskForm) => localStorage.setItem(KEY, JSON.stringify(form));
export const clearForm = () => localStorage.removeItem(KEY);
