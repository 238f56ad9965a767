import { queryClient } from '@/api/queries';
import { useSession, useSignOut } from '@/api/session';
import { Select } from '@/components/Fields';
import { t } from '@/text/text';

const A_YEAR = 365 * 24 * 3600;

/** Who is signed in, and in which of his projects; nothing where there are no accounts. */
export function Person() {
  const { data: session } = useSession();
  const signOut = useSignOut();
  if (!session || session.csrf_token === '') return null;
  const choose = (project: string) => {
    document.cookie = `proctor_project=${encodeURIComponent(project)}; path=/; max-age=${A_YEAR}; samesite=lax`;
    void queryClient.invalidateQueries();
  };
  return (
    <span className="person">
      {session.projects.length > 1 && (
        <label>
          <span className="hidden">{t('sign-in.project')}</span>
          <Select value={session.project} change={choose} options={session.projects.map((one) => [one, one])} />
        </label>
      )}
      <span>
        <bdi>{session.user}</bdi>{' '}
        <button type="button" className="bare" onClick={() => signOut.mutate()}>
          {t('sign-in.out')}
        </button>
      </span>
    </span>
  );
}
