/** What a webhook was told: how often it was tried, what was answered, and sending it again. */
import { Fragment, useState } from 'react';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import type { Delivery, DeliveryPage } from '@/api/documents';
import { request } from '@/api/http';
import { Ago } from '@/components/Ago';
import { Button, Failure, Loaded, Wide } from '@/components/Basics';
import { VisibleText } from '@/components/Foreign';
import { countText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { path } from '@/router/location';
import { t, type TextKey } from '@/text/text';
import { DeliveryBody } from './DeliveryBody';

const LOOK: Readonly<Record<string, string>> = { delivered: 'mark-right', failed: 'mark-wrong' };

export function Deliveries({ webhook }: { webhook: string }) {
  const found = useInfiniteQuery({
    queryKey: ['deliveries', webhook],
    queryFn: ({ pageParam, signal }) =>
      request<DeliveryPage>(path`/webhooks/${webhook}/deliveries`, { query: { limit: 50, after: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    refetchInterval: ({ state }) =>
      state.data?.pages.some((page) => page.items.some((one) => one.state === 'waiting')) ? 2_000 : 15_000,
  });
  const resend = useMutation({
    mutationFn: (one: Delivery) =>
      request(path`/webhooks/${webhook}/deliveries/${one.delivery_id}/resend`, { method: 'POST' }),
    onSettled: () => found.refetch(),
  });
  return (
    <div role="region" aria-label={t('delivery.title')}>
      <Loaded query={found} lines={2}>
        {(data) => {
          const all = data.pages.flatMap((page) => page.items);
          return all.length === 0 ? (
            <p className="muted">{t('delivery.none')}</p>
          ) : (
            <Table webhook={webhook} all={all} resend={(one) => resend.mutate(one)} isBusy={resend.isPending} />
          );
        }}
      </Loaded>
      {found.hasNextPage && <Button onClick={() => void found.fetchNextPage()}>{t('delivery.older')}</Button>}
      {resend.error && <Failure error={resend.error} />}
    </div>
  );
}

interface TableProps {
  webhook: string;
  all: readonly Delivery[];
  resend: (one: Delivery) => void;
  isBusy: boolean;
}

function Table({ webhook, all, resend, isBusy }: TableProps) {
  const [opened, setOpened] = useState<string | null>(null);
  return (
    <Wide label={t('delivery.title')} height={420}>
      <table>
        <thead>
          <tr>
            <th>{t('delivery.run')}</th>
            <th>{t('delivery.event')}</th>
            <th>{t('runs.status')}</th>
            <th className="number">{t('delivery.attempts')}</th>
            <th>{t('delivery.answer')}</th>
            <th>{t('settings.created')}</th>
            <th>
              <span className="hidden">{t('delivery.resend')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {all.map((one) => (
            <Fragment key={one.delivery_id}>
              <tr>
                <td>
                  <Link to={path`/runs/${one.run_id}`}>{one.run_id}</Link>
                </td>
                <td>{one.event}</td>
                <td className={LOOK[one.state] ?? 'mark-invalid'}>{t(`delivery.state.${one.state}` as TextKey)}</td>
                <td className="number">{countText(one.attempts)}</td>
                <td className="small">
                  {one.status} {one.error !== null && <VisibleText text={one.error} />}
                </td>
                <td>
                  <Ago when={one.created_at} />
                </td>
                <td className="number">
                  <Button
                    kind="quiet"
                    aria-expanded={opened === one.delivery_id}
                    onClick={() => setOpened(opened === one.delivery_id ? null : one.delivery_id)}
                  >
                    {t('delivery.show')}
                  </Button>
                  <Button disabled={isBusy} onClick={() => resend(one)}>
                    {t('delivery.resend')}
                  </Button>
                </td>
              </tr>
              {opened === one.delivery_id && (
                <tr>
                  <td colSpan={7}>
                    <DeliveryBody webhook={webhook} delivery={one.delivery_id} attempts={one.attempts} />
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}
