import { useState } from 'react';
import type { CreatedWebhook, Webhook } from '@/api/documents';
import { useAdminChange } from '@/api/administration';
import { Ago } from '@/components/Ago';
import { Button } from '@/components/Basics';
import { Field } from '@/components/Fields';
import { path } from '@/router/location';
import { t } from '@/text/text';
import { Deliveries } from './Deliveries';
import { Listing, Once } from './Listing';

/** Addresses that are told how runs end. */
export function Webhooks() {
  const change = useAdminChange();
  const create = useAdminChange<CreatedWebhook>();
  const [shown, setShown] = useState<string | null>(null);
  const [url, setUrl] = useState('');
  return (
    <Listing<Webhook>
      title={t('settings.webhooks')}
      note={t('settings.webhooks.note')}
      path="/webhooks"
      keyOf={(one) => one.webhook_id}
      error={change.error ?? create.error}
      columns={[
        { head: t('settings.address'), cell: (one) => <bdi>{one.url}</bdi> },
        { head: t('settings.webhook.events'), cell: (one) => <span className="small">{one.events.join(', ')}</span> },
        { head: t('settings.created'), cell: (one) => <Ago when={one.created_at} /> },
        {
          head: '',
          isNumber: true,
          cell: (one) => (
            <span className="buttons end">
              <Button
                aria-pressed={shown === one.webhook_id}
                onClick={() => setShown(shown === one.webhook_id ? null : one.webhook_id)}
              >
                {t('delivery.title')}
              </Button>
              <Button onClick={() => change.mutate({ method: 'DELETE', path: path`/webhooks/${one.webhook_id}` })}>
                {t('settings.remove')}
              </Button>
            </span>
          ),
        },
      ]}
    >
      {shown !== null && <Deliveries key={shown} webhook={shown} />}
      <Once secret={create.data?.secret ?? null} />
      <form
        className="filters add-row"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate({ method: 'POST', path: '/webhooks', body: { url } });
          setUrl('');
        }}
      >
        <Field label={t('settings.address')}>
          <input
            className="input"
            type="url"
            required
            placeholder="https://"
            value={url}
            onChange={(event) => setUrl(event.target.value)}
          />
        </Field>
        <Button type="submit">{t('settings.add')}</Button>
      </form>
    </Listing>
  );
}
