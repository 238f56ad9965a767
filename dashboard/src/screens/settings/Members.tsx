import { useState } from 'react';
import type { ListedMember } from '@/api/documents';
import { useAdminChange } from '@/api/administration';
import { Button } from '@/components/Basics';
import { Field, Select } from '@/components/Fields';
import { path } from '@/router/location';
import { t, type TextKey } from '@/text/text';
import { Listing } from './Listing';

const ROLES = ['viewer', 'editor', 'owner'];
const roleOptions = () => ROLES.map((role) => [role, t(`settings.role.${role}` as TextKey)] as const);

/** Who may see the project, and what each may do in it. */
export function Members({ project, mayChange }: { project: string; mayChange: boolean }) {
  const change = useAdminChange();
  const [user, setUser] = useState('');
  const [role, setRole] = useState('viewer');
  const set = (member: string, next: string) =>
    change.mutate({ method: 'PUT', path: path`/projects/${project}/members/${member}`, body: { role: next } });
  return (
    <Listing<ListedMember>
      title={t('settings.members')}
      path={path`/projects/${project}/members`}
      keyOf={(one) => one.user}
      error={change.error}
      columns={[
        { head: t('settings.member'), cell: (one) => <bdi>{one.user}</bdi> },
        {
          head: t('settings.role'),
          cell: (one) =>
            mayChange ? (
              <label>
                <span className="hidden">{`${t('settings.role')} ${one.user}`}</span>
                <Select value={one.role} change={(next) => set(one.user, next)} options={roleOptions()} />
              </label>
            ) : (
              t(`settings.role.${one.role}` as TextKey)
            ),
        },
        {
          head: '',
          isNumber: true,
          cell: (one) =>
            mayChange && (
              <Button
                onClick={() =>
                  change.mutate({ method: 'DELETE', path: path`/projects/${project}/members/${one.user}` })
                }
              >
                {t('settings.remove')}
              </Button>
            ),
        },
      ]}
    >
      {mayChange && (
        <form
          className="filters add-row"
          onSubmit={(event) => {
            event.preventDefault();
            set(user, role);
            setUser('');
          }}
        >
          <Field label={t('settings.member')}>
            <input className="input" required value={user} onChange={(event) => setUser(event.target.value)} />
          </Field>
          <Field label={t('settings.role')}>
            <Select value={role} change={setRole} options={roleOptions()} />
          </Field>
          <Button type="submit">{t('settings.add')}</Button>
        </form>
      )}
    </Listing>
  );
}
