/** What is being typed outlives a reload and a session that ends. */
const KEY = 'proctor.plan';

export const readDraft = () => localStorage.getItem(KEY);
export const writeDraft = (text: string) => localStorage.setItem(KEY, text);
export const clearDraft = () => localStorage.removeItem(KEY);
