/** One message to a webhook as it was sent, and what was answered last; read when somebody wants to see it. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { WholeDelivery } from '@/api/documents';
import { request } from '@/api/http';
import { Loaded } from '@/components/Basics';
import { Foreign } from '@/components/Foreign';
import { path } from '@/router/location';
import { t } from '@/text/text';

interface Props {
  webhook: string;
  delivery: string;
  /** Each is answered anew. */
  attempts: number;
}

export function DeliveryBody({ webhook, delivery, attempts }: Props) {
  const found = useQuery({
    queryKey: ['delivery', webhook, delivery, attempts],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => request<WholeDelivery>(path`/webhooks/${webhook}/deliveries/${delivery}`, { signal }),
  });
  return (
    <Loaded query={found} lines={2}>
      {({ body, answer }) => (
        <div className="delivery-body">
          <div>
            <h3>{t('delivery.sent')}</h3>
            <code>
              <Foreign text={JSON.stringify(body, null, 2)} limit={20_000} />
            </code>
          </div>
          <div>
            <h3>{t('delivery.answer')}</h3>
            {answer === null ? (
              <p className="muted">{t('delivery.no-answer')}</p>
            ) : (
              <code>
                <Foreign text={answer === '' ? t('delivery.empty-answer') : answer} limit={20_000} />
              </code>
            )}
          </div>
        </div>
      )}
    </Loaded>
  );
}
