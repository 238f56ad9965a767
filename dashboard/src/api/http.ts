/** Requests to the server; whatever it refuses arrives as a `ProblemError` with the sentence to show. */

import { t } from '@/text/text';
import { isSite, readSite } from './site';

export const API = '/api/v1';

interface FieldProblem {
  pointer: string;
  detail: string;
}

/** What the server said (RFC 9457), or that it could not be reached: then `status` is 0. */
export class ProblemError extends Error {
  constructor(
    readonly status: number,
    readonly detail: string,
    readonly errors: readonly FieldProblem[] = [],
    readonly requestId: string | null = null,
  ) {
    super(detail);
  }
}

export type Query = Readonly<Record<string, string | number | readonly string[] | null | undefined>>;

interface Options {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  query?: Query;
  /** Sent as JSON, unless it is a form. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

export function address(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === '') continue;
    for (const one of Array.isArray(value) ? (value as readonly string[]) : [value]) search.append(name, String(one));
  }
  const text = search.toString();
  return API + path + (text ? `?${text}` : '');
}

/** The token that proves a change comes from this page; whoever reads the session says it. */
let csrfToken = '';
export const rememberCsrf = (token: string) => {
  csrfToken = token;
};

function changeHeaders(): Record<string, string> {
  return { 'Idempotency-Key': crypto.randomUUID(), ...(csrfToken === '' ? {} : { 'X-CSRF-Token': csrfToken }) };
}

export async function send(path: string, options: Options = {}): Promise<Response> {
  const method = options.method ?? 'GET';
  const isForm = options.body instanceof FormData;
  let response: Response;
  try {
    response = await fetch(address(path, options.query), {
      method,
      headers: {
        Accept: 'application/json',
        ...(options.body === undefined || isForm ? {} : { 'Content-Type': 'application/json' }),
        ...(method === 'GET' ? {} : changeHeaders()),
        ...options.headers,
      },
      ...(options.body === undefined
        ? {}
        : { body: isForm ? (options.body as FormData) : JSON.stringify(options.body) }),
      ...(options.signal ? { signal: options.signal } : {}),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ProblemError(0, 'The server does not answer.');
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

export async function request<Document>(path: string, options: Options = {}): Promise<Document> {
  if (isSite) {
    const found = (options.method ?? 'GET') === 'GET' ? await readSite(path, options.query ?? {}) : null;
    if (found === null) throw new ProblemError(404, t('site.not-here'));
    return found as Document;
  }
  const response = await send(path, options);
  return (response.status === 204 ? undefined : await response.json()) as Document;
}

async function problemOf(response: Response): Promise<ProblemError> {
  const body: unknown = await response.json().catch(() => null);
  if (typeof body !== 'object' || body === null) return new ProblemError(response.status, response.statusText);
  const problem = body as { detail?: unknown; title?: unknown; errors?: unknown; request_id?: unknown };
  const detail = [problem.detail, problem.title].find((text) => typeof text === 'string') as string | undefined;
  return new ProblemError(
    response.status,
    detail ?? response.statusText,
    Array.isArray(problem.errors) ? (problem.errors as FieldProblem[]) : [],
    typeof problem.request_id === 'string' ? problem.request_id : null,
  );
}
