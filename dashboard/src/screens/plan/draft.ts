/** What is being typed outlives a reload and a session that ends; each saved plan has a draft of its own. */
const KEY = 'proctor.plan';

export interface Draft {
  text: string;
  /** Of a saved plan the revision that was changed; null for a plan that is not saved yet. */
  revision: number | null;
}

const keyOf = (plan: string | null) => (plan === null ? KEY : `${KEY}.${plan}`);

export function readDraft(plan: string | null = null): Draft | null {
  const kept = localStorage.getItem(keyOf(plan));
  if (kept === null) return null;
  const [, revision, text] = /^#revision (\d+)\n([^]*)$/.exec(kept) ?? [];
  return text === undefined ? { text: kept, revision: null } : { text, revision: Number(revision) };
}

export function writeDraft(text: string, plan: string | null = null, revision: number | null = null): void {
  localStorage.setItem(keyOf(plan), revision === null ? text : `#revision ${revision}\n${text}`);
}

/** Only what was saved is no draft any more: what was typed since stays. */
export function clearSaved(text: string, plan: string | null): void {
  if (readDraft(plan)?.text === text) clearDraft(plan);
}

export const clearDraft = (plan: string | null = null) => localStorage.removeItem(keyOf(plan));
