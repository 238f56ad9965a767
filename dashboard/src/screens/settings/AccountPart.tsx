/** Where one is signed in, and with which tokens. */
import type { ListedSession, ListedTokens } from '@/api/documents';
import { useAdminChange } from '@/api/administration';
import { useSession } from '@/api/session';
import { Ago } from '@/components/Ago';
import { Button } from '@/components/Basics';
import { path } from '@/router/location';
import { t } from '@/text/text';
import { Listing } from './Listing';

export function AccountPart() {
  const { data: session } = useSession();
  const change = useAdminChange();
  if (!session || session.csrf_token === '') return <p className="muted">{t('settings.no-accounts')}</p>;
  const end = (where: string) => change.mutate({ method: 'DELETE', path: where });
  return (
    <>
      <Listing<ListedSession>
        title={t('settings.sessions')}
        path="/auth/sessions"
        keyOf={(one) => one.session_id}
        error={change.error}
        columns={[
          { head: t('settings.session.agent'), cell: (one) => <span className="small">{one.agent}</span> },
          { head: t('settings.address'), cell: (one) => one.address },
          { head: t('settings.used'), cell: (one) => <Ago when={one.seen_at} /> },
          {
            head: '',
            isNumber: true,
            cell: (one) =>
              one.is_this ? (
                <span className="muted">{t('settings.session.this')}</span>
              ) : (
                <Button onClick={() => end(path`/auth/sessions/${one.session_id}`)}>{t('settings.session.end')}</Button>
              ),
          },
        ]}
      />
      <Listing<ListedTokens>
        title={t('settings.tokens')}
        path="/auth/tokens"
        keyOf={(one) => one.token_id}
        columns={[
          { head: t('settings.scopes'), cell: (one) => <span className="small">{one.scopes.join(', ')}</span> },
          { head: t('settings.address'), cell: (one) => one.address },
          { head: t('settings.used'), cell: (one) => <Ago when={one.used_at} /> },
          {
            head: '',
            isNumber: true,
            cell: (one) => (
              <Button onClick={() => end(path`/auth/tokens/${one.token_id}`)}>{t('settings.session.end')}</Button>
            ),
          },
        ]}
      />
    </>
  );
}
