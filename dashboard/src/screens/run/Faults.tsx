import type { RunDocument } from '@/api/documents';
import { useFirstResults } from '@/api/results';
import { Section, SideName } from '@/components/Basics';
import { Foreign } from '@/components/Foreign';
import { countText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { samplesLink } from '@/screens/samples/link';
import { t } from '@/text/text';

/** What failed, apart from every score; each with the reason that was recorded. */
export function Faults({ run }: { run: RunDocument }) {
  const failed = run.evaluations.reduce((sum, one) => sum + one.failed, 0);
  return (
    <Section title={t('run.faults')} note={t('run.faults.note')}>
      {failed === 0 ? <p className="muted">{t('run.faults.none')}</p> : <FaultList run={run} failed={failed} />}
    </Section>
  );
}

const SHOWN = 5;

function FaultList({ run, failed }: { run: RunDocument; failed: number }) {
  const results = useFirstResults(run.run_id, { outcome: 'failed', limit: SHOWN });
  const items = results.data?.items ?? [];
  return (
    <>
      <ul className="faults">
        {run.evaluations.map((one, index) =>
          one.failed === 0 ? null : (
            <li key={index}>
              <SideName index={index} name={one.side} />
              <Link to={samplesLink(run.run_id, { model: one.side, benchmark: one.benchmark, outcome: 'failed' })}>
                {countText(one.failed)}
              </Link>
            </li>
          ),
        )}
      </ul>
      <ul className="faults">
        {items.map((item) => (
          <li key={item.result_id}>
            <Link to={samplesLink(run.run_id, { outcome: 'failed', at: item.result_id })}>{item.sample_id}</Link>
            <Foreign text={item.error ?? Object.values(item.scores)[0]?.reason ?? ''} limit={200} />
          </li>
        ))}
      </ul>
      {failed > SHOWN && (
        <Link to={samplesLink(run.run_id, { outcome: 'failed' })}>{t('run.faults.all', { n: countText(failed) })}</Link>
      )}
    </>
  );
}
