/** A draft as this browser keeps it: what was paid for outlives a reload and a session that ends. */
import type { DraftKind } from '@/api/benchmarkDrafts';
import type { DraftedSample } from '@/api/documents';
import type { Session } from '@/api/session';

export interface Settings {
  writer: string;
  checker: string;
  pilots: string;
  kind: DraftKind;
  count: string;
  costLimit: string;
}

export interface BenchmarkDraft {
  document: string;
  passages: readonly string[];
  settings: Settings;
  samples: readonly DraftedSample[];
  requests: number;
  /** Null once the price of an answer was not known. */
  cost: number | null;
}

export const NEW_SETTINGS: Settings = { writer: '', checker: '', pilots: '', kind: 'qa', count: '20', costLimit: '' };

/** Whose it is: others who sign in with this browser, and his other projects, are shown nothing of the document. */
export const ownerOf = (session: Pick<Session, 'user' | 'project'> | null | undefined) =>
  session ? JSON.stringify([session.user, session.project]) : 'local';

const keyOf = (owner: string) => `proctor.benchmark-draft.${owner}`;

export function readKept(owner: string): BenchmarkDraft | null {
  const kept = localStorage.getItem(keyOf(owner));
  if (kept === null) return null;
  try {
    return JSON.parse(kept) as BenchmarkDraft;
  } catch {
    return null;
  }
}

/** Whether there was room for it: without, it is there as long as the page is open. */
export function keep(draft: BenchmarkDraft | null, owner: string): boolean {
  try {
    if (draft === null) localStorage.removeItem(keyOf(owner));
    else localStorage.setItem(keyOf(owner), JSON.stringify(draft));
    return true;
  } catch {
    localStorage.removeItem(keyOf(owner));
    return false;
  }
}

export const begin = (document: string, passages: readonly string[], settings: Settings): BenchmarkDraft => ({
  document,
  passages,
  settings,
  samples: [],
  requests: 0,
  cost: 0,
});

export const accepted = (draft: BenchmarkDraft) => draft.samples.filter((one) => one.verdict === 'accepted');

/** So many are asked at once: what is lost with a page that is closed stays small. */
const AT_ONCE = 2;

/** The next passages of which nothing was drafted yet; none when enough was accepted. */
export function nextPassages(draft: BenchmarkDraft, failed: ReadonlySet<number>): readonly number[] {
  const missing = Number(draft.settings.count) - accepted(draft).length;
  const used = new Set(draft.samples.map((one) => one.passage_number));
  const left = draft.passages.map((_, number) => number).filter((number) => !used.has(number) && !failed.has(number));
  return left.slice(0, Math.max(0, Math.min(AT_ONCE, missing)));
}

export const withReview = (draft: BenchmarkDraft, id: string, review: DraftedSample['review']): BenchmarkDraft => ({
  ...draft,
  samples: draft.samples.map((one) => (one.id === id ? { ...one, review } : one)),
});
