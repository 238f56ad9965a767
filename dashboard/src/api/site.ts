/** An exported site: the same pages on plain files, without a server. */
import type { Leaderboard, ListedRun, RunPage } from './documents';
import type { Query } from './http';

/** Where the documents lie beside the page; null where a server answers. */
const data = document.querySelector('meta[name="proctor-data"]')?.getAttribute('content') ?? null;
export const isSite = data !== null;

interface SiteIndex {
  made_at: string;
  version: string;
  runs: number;
  comparisons: Readonly<Record<string, string>>;
}

async function read<Document>(name: string): Promise<Document | null> {
  const response = await fetch(`${data ?? ''}/${name}`);
  return response.ok ? ((await response.json()) as Document) : null;
}

export const readIndex = () => read<SiteIndex>('index.json');

const one = (value: Query[string]) => (Array.isArray(value) ? value.join(',') : String(value ?? ''));

function fits(run: ListedRun, query: Query): boolean {
  const has = (names: readonly string[], wanted: string) => wanted === '' || names.some((name) => name === wanted);
  return (
    has([run.status], one(query.status)) &&
    has(run.models, one(query.model)) &&
    has(run.benchmarks, one(query.benchmark)) &&
    (run.name ?? '').toLowerCase().includes(one(query.text).toLowerCase())
  );
}

/** What the server would have answered; null for what is not among the files. */
export async function readSite(path: string, query: Query): Promise<unknown> {
  if (path === '/auth/me') {
    const permissions = ['run:read', 'results:read', 'benchmark:read'];
    return { user: '', is_admin: false, project: '', projects: [], permissions, csrf_token: '' };
  }
  if (path === '/benchmarks' || path === '/models') return [];
  if (path === '/runs') {
    const page = await read<RunPage>('runs.json');
    return page && { ...page, items: page.items.filter((run) => fits(run, query)) };
  }
  if (path === '/leaderboard') {
    const board = await read<Leaderboard>('leaderboard.json');
    const wanted = one(query.benchmark);
    return board && { ...board, tables: board.tables.filter((table) => !wanted || table.benchmark === wanted) };
  }
  if (path === '/compare') {
    const b = one(query.b);
    const key = `a=${one(query.a)}${b ? `&b=${b}` : ''}`;
    const name = (await readIndex())?.comparisons[key];
    return name === undefined ? null : read(name);
  }
  const run = /^\/runs\/([a-z0-9]+)$/.exec(path)?.[1];
  return run === undefined ? null : read(`runs/${run}.json`);
}
