import type { RunDocument } from '@/api/documents';
import { useResults } from '@/api/queries';
import { Section, SideName } from '@/components/Basics';
import { Foreign } from '@/components/Foreign';
import { countText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { keyOf } from '@/screens/samples/SampleRow';
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
  const results = useResults(run.run_id, { outcome: 'failed' }, SHOWN);
  const items = results.data?.pages[0]?.items ?? [];
  return (
    <>
      <ul className="faults">
        {run.evaluations.map((one, index) =>
          one.failed === 0 ? null : (
            <li key={index}>
              <SideName index={index} name={one.side} />
              <Link to={samplesLink(run.run_id, { model: one.model, benchmark: one.benchmark, outcome: 'failed' })}>
                {countText(one.failed)}
              </Link>
            </li>
          ),
        )}
      </ul>
      <ul className="faults">
        {items.map((item) => (
          <li key={keyOf(item)}>
            <Link to={samplesLink(run.run_id, { outcome: 'failed', at: keyOf(item) })}>{item.sample_id}</Link>
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
