/** What is being typed outlives a reload and a session that ends; each saved plan has a draft of its own. */
const KEY = 'proctor.plan';

const keyOf = (plan: string | null) => (plan === null ? KEY : `${KEY}.${plan}`);

export const readDraft = (plan: string | null = null) => localStorage.getItem(keyOf(plan));
export const writeDraft = (text: string, plan: string | null = null) => localStorage.setItem(keyOf(plan), text);
/** Only what was saved is no draft any more: what was typed since stays. */
export const clearSaved = (text: string, plan: string | null) => {
  if (readDraft(plan) === text) clearDraft(plan);
};
export const clearDraft = (plan: string | null = null) => localStorage.removeItem(keyOf(plan));
