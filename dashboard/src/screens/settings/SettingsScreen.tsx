/** What is wrong first; then accounts, keys and addresses, as far as one's role may see them. */
import { useQuery } from '@tanstack/react-query';
import type { ServerVersion } from '@/api/documents';
import { request } from '@/api/http';
import { useMay, useSession } from '@/api/session';
import { PageHead } from '@/components/Basics';
import { Link } from '@/router/Link';
import { useParameters, withParameters } from '@/router/location';
import { t } from '@/text/text';
import { AccountPart } from './AccountPart';
import { GeneralPart } from './GeneralPart';
import { ProjectPart } from './ProjectPart';
import { ServerPart } from './ServerPart';
import { UsagePart } from './UsagePart';
import './settings.css';

const PARTS = {
  general: GeneralPart,
  account: AccountPart,
  project: ProjectPart,
  usage: UsagePart,
  server: ServerPart,
} as const;
type PartName = keyof typeof PARTS;

export default function SettingsScreen() {
  const version = useQuery({ queryKey: ['version'], queryFn: () => request<ServerVersion>('/version') });
  const { data: session } = useSession();
  const isAdmin = useMay('admin:full');
  const [parameters] = useParameters();
  const shown = (Object.keys(PARTS) as PartName[]).filter((name) => name !== 'server' || isAdmin);
  const part = shown.find((name) => name === parameters.get('part')) ?? 'general';
  const Part = PARTS[part];
  return (
    <>
      <PageHead
        trail={t('nav.settings')}
        title={t('settings.title')}
        lead={version.data && `Proctor ${version.data.version}`}
      >
        <nav className="parts" aria-label={t('settings.title')}>
          {shown.map((name) => (
            <Link
              key={name}
              to={withParameters({ part: name === 'general' ? null : name })}
              aria-current={name === part ? 'page' : undefined}
            >
              {t(`settings.part.${name}`, { project: session?.project ?? 'local' })}
            </Link>
          ))}
        </nav>
      </PageHead>
      <Part />
    </>
  );
}
