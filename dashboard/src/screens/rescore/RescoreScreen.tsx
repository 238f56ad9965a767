/** A run's stored responses scored again: asked for, followed, and what came of it. */
import { useRun } from '@/api/queries';
import { useRescorings } from '@/api/rescorings';
import { useMay } from '@/api/session';
import { Loaded, PageHead } from '@/components/Basics';
import { Link } from '@/router/Link';
import { path } from '@/router/location';
import { t } from '@/text/text';
import { RescoreForm } from './RescoreForm';
import { Rescoring } from './Rescoring';
import './rescore.css';

export default function RescoreScreen({ parameters: { run = '' } }: { parameters: Readonly<Record<string, string>> }) {
  const mayRun = useMay('run:write');
  const found = useRun(run);
  const rescorings = useRescorings(run);
  return (
    <Loaded isPage query={found}>
      {(document) => (
        <>
          <PageHead
            trail={
              <>
                <Link to="/runs">{t('nav.runs')}</Link> ·{' '}
                <Link to={path`/runs/${document.run_id}`}>{document.name ?? document.run_id}</Link>
              </>
            }
            title={t('rescore.title')}
            lead={t('rescore.lead')}
          />
          {mayRun && <RescoreForm run={document} />}
          <Loaded query={rescorings} lines={2}>
            {({ items }) =>
              items.length === 0 ? (
                <p className="muted">{t('rescore.none')}</p>
              ) : (
                items.map((one) => <Rescoring key={one.rescoring_id} rescoring={one} mayRun={mayRun} />)
              )
            }
          </Loaded>
        </>
      )}
    </Loaded>
  );
}
