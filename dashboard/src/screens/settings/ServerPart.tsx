/** For the server's administrators: users, projects, what was done. */
import { useState } from 'react';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { AuditPage, InvitedUser, ListedProject, ListedUser } from '@/api/documents';
import { useAdminChange } from '@/api/administration';
import { request } from '@/api/http';
import { Ago } from '@/components/Ago';
import { Button, Loaded, Section, Wide } from '@/components/Basics';
import { Field } from '@/components/Fields';
import { path } from '@/router/location';
import { t } from '@/text/text';
import { Listing, Once } from './Listing';

export function ServerPart() {
  return (
    <>
      <Users />
      <Projects />
      <Audit />
    </>
  );
}

function stateOf(one: ListedUser): string {
  if (one.disabled_at !== null) return t('settings.user.disabled');
  return one.has_password ? t('settings.user.active') : t('settings.user.invited');
}

function Users() {
  const change = useAdminChange();
  const invite = useAdminChange<InvitedUser>();
  const [name, setName] = useState('');
  const [isAdmin, setAdmin] = useState(false);
  const link = invite.data ? globalThis.location.origin + invite.data.link : null;
  const setDisabled = (user: string, isDisabled: boolean) =>
    change.mutate({ method: 'PATCH', path: path`/users/${user}`, body: { is_disabled: isDisabled } });
  return (
    <Listing<ListedUser>
      title={t('settings.users')}
      path="/users"
      keyOf={(one) => one.name}
      error={change.error ?? invite.error}
      columns={[
        {
          head: t('settings.name'),
          cell: (one) => (
            <>
              <bdi>{one.name}</bdi> {one.is_admin && <span className="muted small">{t('settings.user.admin')}</span>}
            </>
          ),
        },
        { head: t('runs.status'), cell: stateOf },
        { head: t('settings.created'), cell: (one) => <Ago when={one.created_at} /> },
        {
          head: '',
          isNumber: true,
          cell: (one) => (
            <span className="buttons end">
              <Button onClick={() => invite.mutate({ method: 'POST', path: path`/users/${one.name}/link` })}>
                {t('settings.user.link')}
              </Button>
              <Button onClick={() => setDisabled(one.name, one.disabled_at === null)}>
                {one.disabled_at === null ? t('settings.user.disable') : t('settings.user.enable')}
              </Button>
            </span>
          ),
        },
      ]}
    >
      <Once secret={link} />
      <form
        className="filters add-row"
        onSubmit={(event) => {
          event.preventDefault();
          invite.mutate({ method: 'POST', path: '/users', body: { name, is_admin: isAdmin } });
          setName('');
        }}
      >
        <Field label={t('settings.name')}>
          <input className="input" required value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        <label className="check">
          <input type="checkbox" checked={isAdmin} onChange={(event) => setAdmin(event.target.checked)} />
          {t('settings.user.admin')}
        </label>
        <Button type="submit">{t('settings.add')}</Button>
      </form>
    </Listing>
  );
}

function Projects() {
  const create = useAdminChange();
  const [name, setName] = useState('');
  return (
    <Listing<ListedProject>
      title={t('settings.projects')}
      path="/projects"
      keyOf={(one) => one.name}
      error={create.error}
      columns={[
        { head: t('settings.name'), cell: (one) => <bdi>{one.name}</bdi> },
        { head: t('settings.members'), isNumber: true, cell: (one) => one.members },
      ]}
    >
      <form
        className="filters add-row"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate({ method: 'POST', path: '/projects', body: { name } });
          setName('');
        }}
      >
        <Field label={t('settings.name')}>
          <input className="input" required value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        <Button type="submit">{t('settings.add')}</Button>
      </form>
    </Listing>
  );
}

function Audit() {
  const pages = useInfiniteQuery({
    queryKey: ['audit'],
    queryFn: ({ pageParam, signal }) =>
      request<AuditPage>('/audit', { query: { limit: 50, after: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
  });
  return (
    <Section title={t('settings.audit')}>
      <Loaded query={pages} lines={2}>
        {(data) =>
          data.pages[0]?.items.length === 0 ? (
            <p className="muted">{t('settings.none')}</p>
          ) : (
            <Wide label={t('settings.audit')} height={420}>
              <table>
                <thead>
                  <tr>
                    <th>{t('settings.audit.when')}</th>
                    <th>{t('settings.audit.who')}</th>
                    <th>{t('settings.audit.what')}</th>
                    <th>{t('settings.audit.object')}</th>
                    <th>{t('settings.address')}</th>
                    <th>{t('settings.audit.outcome')}</th>
                  </tr>
                </thead>
                <tbody>
                  {data.pages
                    .flatMap((page) => page.items)
                    .map((one) => (
                      <tr key={one.number}>
                        <td>
                          <Ago when={one.at} />
                        </td>
                        <td>
                          <bdi>{one.who}</bdi>
                        </td>
                        <td>{one.what}</td>
                        <td>
                          <bdi>{one.object}</bdi>
                        </td>
                        <td>{one.address}</td>
                        <td>{one.outcome}</td>
                      </tr>
                    ))}
                </tbody>
              </table>
            </Wide>
          )
        }
      </Loaded>
      {pages.hasNextPage && <Button onClick={() => void pages.fetchNextPage()}>{t('settings.audit.newer')}</Button>}
    </Section>
  );
}
