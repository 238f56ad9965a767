import { useState } from 'react';
import type { CreatedKey, ListedKey } from '@/api/documents';
import { useAdminChange } from '@/api/administration';
import { useSession } from '@/api/session';
import { Ago } from '@/components/Ago';
import { Button } from '@/components/Basics';
import { Field } from '@/components/Fields';
import { path } from '@/router/location';
import { t } from '@/text/text';
import { Listing, Once } from './Listing';

const STALE_MS = 90 * 24 * 3600 * 1000;
const isStale = (one: ListedKey) =>
  one.is_valid && Date.now() - new Date(one.last_used_at ?? one.created_at).getTime() > STALE_MS;

function stateOf(one: ListedKey): string {
  if (one.revoked_at !== null) return t('settings.key.revoked');
  if (!one.is_valid) return t('settings.key.expired');
  return isStale(one) ? t('settings.key.stale') : t('settings.key.valid');
}

/** Keys for programs: made once, shown once, revoked at once. */
export function ApiKeys() {
  const change = useAdminChange();
  const create = useAdminChange<CreatedKey>();
  const { data: session } = useSession();
  const scopes = [...(session?.permissions ?? [])];
  const [name, setName] = useState('');
  const [expires, setExpires] = useState('90d');
  const [chosen, setChosen] = useState<readonly string[]>(['run:read', 'results:read']);
  const toggle = (scope: string) =>
    setChosen(chosen.includes(scope) ? chosen.filter((one) => one !== scope) : [...chosen, scope]);
  return (
    <Listing<ListedKey>
      title={t('settings.keys')}
      note={t('settings.keys.note')}
      path="/keys"
      keyOf={(one) => one.key_id}
      error={change.error ?? create.error}
      columns={[
        {
          head: t('settings.name'),
          cell: (one) => (
            <>
              <bdi>{one.name}</bdi> <span className="muted small">{one.key_id}</span>
            </>
          ),
        },
        { head: t('settings.scopes'), cell: (one) => <span className="small">{one.scopes.join(', ')}</span> },
        { head: t('settings.used'), cell: (one) => <Ago when={one.last_used_at} /> },
        { head: t('settings.expires'), cell: (one) => <Ago when={one.expires_at} /> },
        {
          head: t('runs.status'),
          cell: (one) => <span className={isStale(one) ? 'mark-invalid' : undefined}>{stateOf(one)}</span>,
        },
        {
          head: '',
          isNumber: true,
          cell: (one) =>
            one.is_valid && (
              <Button onClick={() => change.mutate({ method: 'DELETE', path: path`/keys/${one.key_id}` })}>
                {t('settings.key.revoke')}
              </Button>
            ),
        },
      ]}
    >
      <Once secret={create.data?.key ?? null} />
      <form
        className="filters add-row"
        onSubmit={(event) => {
          event.preventDefault();
          const body = { name, scopes: chosen, ...(expires === '' ? {} : { expires }) };
          create.mutate({ method: 'POST', path: '/keys', body });
        }}
      >
        <Field label={t('settings.name')}>
          <input className="input" maxLength={100} value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        <Field label={`${t('settings.expires')} (${t('settings.expires.example')})`}>
          <input className="input" size={8} value={expires} onChange={(event) => setExpires(event.target.value)} />
        </Field>
        <fieldset className="scopes">
          <legend className="muted small">{t('settings.scopes')}</legend>
          {scopes.map((scope) => (
            <label key={scope} className="small">
              <input type="checkbox" checked={chosen.includes(scope)} onChange={() => toggle(scope)} /> {scope}
            </label>
          ))}
        </fieldset>
        <Button type="submit" disabled={chosen.length === 0 || create.isPending}>
          {t('settings.add')}
        </Button>
      </form>
    </Listing>
  );
}
