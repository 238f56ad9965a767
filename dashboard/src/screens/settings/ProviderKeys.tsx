import { useState } from 'react';
import type { ListedProviderKey } from '@/api/documents';
import { useAdminChange } from '@/api/administration';
import { useProviders } from '@/api/queries';
import { Ago } from '@/components/Ago';
import { Button } from '@/components/Basics';
import { Field, Select } from '@/components/Fields';
import { path } from '@/router/location';
import { t } from '@/text/text';
import { Listing } from './Listing';

/** Keys of the project for providers: set and removed, read by nobody. */
export function ProviderKeys({ mayChange }: { mayChange: boolean }) {
  const change = useAdminChange();
  const set = useAdminChange();
  return (
    <Listing<ListedProviderKey>
      title={t('settings.provider-keys')}
      note={t('settings.provider-keys.note')}
      path="/provider-keys"
      keyOf={(one) => one.connection_id}
      error={change.error ?? set.error}
      columns={[
        { head: t('settings.provider'), cell: (one) => one.provider },
        { head: t('settings.address'), cell: (one) => <bdi>{one.base_url}</bdi> },
        { head: t('settings.provider-key.by'), cell: (one) => <bdi>{one.set_by}</bdi> },
        { head: t('settings.created'), cell: (one) => <Ago when={one.set_at} /> },
        {
          head: '',
          isNumber: true,
          cell: (one) =>
            mayChange && (
              <Button
                onClick={() => change.mutate({ method: 'DELETE', path: path`/provider-keys/${one.connection_id}` })}
              >
                {t('settings.remove')}
              </Button>
            ),
        },
      ]}
    >
      {mayChange && <NewKey set={(body) => set.mutate({ method: 'POST', path: '/provider-keys', body })} />}
    </Listing>
  );
}

function NewKey({ set }: { set: (body: Record<string, string>) => void }) {
  const providers = useProviders();
  const names = (providers.data ?? []).filter((one) => one.key_variable !== null).map((one) => one.provider);
  const [provider, setProvider] = useState('');
  const [key, setKey] = useState('');
  const [address, setAddress] = useState('');
  const chosen = provider || names[0] || '';
  return (
    <form
      className="filters add-row"
      onSubmit={(event) => {
        event.preventDefault();
        set({ provider: chosen, key, ...(address === '' ? {} : { base_url: address }) });
        setKey('');
      }}
    >
      <Field label={t('settings.provider')}>
        <Select value={chosen} change={setProvider} options={names.map((one) => [one, one])} />
      </Field>
      <Field label={t('settings.provider-key.key')}>
        <input
          className="input"
          type="password"
          autoComplete="off"
          required
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
      </Field>
      <Field label={t('settings.address')}>
        <input className="input" type="url" value={address} onChange={(event) => setAddress(event.target.value)} />
      </Field>
      <Button type="submit">{t('settings.add')}</Button>
    </form>
  );
}
