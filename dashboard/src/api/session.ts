/** Who is signed in, and what he may do; on a server without accounts, whoever is at this machine may do everything. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ListedWay, SignedIn } from './documents';
import { ProblemError, request, rememberCsrf } from './http';

export type Session = SignedIn;

async function readSession(): Promise<Session | null> {
  try {
    const session = await request<Session>('/auth/me');
    rememberCsrf(session.csrf_token);
    return session;
  } catch (error) {
    // A server without accounts may have no such route.
    if (error instanceof ProblemError && error.status === 404) return null;
    throw error;
  }
}

export function useSession() {
  return useQuery({ queryKey: ['session'], queryFn: readSession, staleTime: 60_000, retry: false });
}

/** The identity providers through which people can sign in here. */
export function useWays() {
  return useQuery({
    queryKey: ['ways'],
    queryFn: () => request<ListedWay[]>('/auth/ways'),
    staleTime: 60_000,
    retry: false,
  });
}

export const isSignedOut = (error: Error | null) => error instanceof ProblemError && error.status === 401;

/** Whether a button may be shown: what the server would refuse is not offered. */
export function useMay(permission: string): boolean {
  const { data } = useSession();
  return data === null || data === undefined || data.permissions.includes(permission);
}

/** Signs in with a name and a password, or with a one-time link and a new password; all data is then asked for anew. */
export function useSignIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (given: { name: string; password: string } | { token: string; password: string }) =>
      request<Session>('token' in given ? '/auth/password' : '/auth/sign-in', { method: 'POST', body: given }),
    onSuccess: () => client.invalidateQueries(),
  });
}

export function useSignOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => request('/auth/sign-out', { method: 'POST' }),
    onSuccess: () => {
      client.clear();
      globalThis.location.assign('/');
    },
  });
}
