/** Which of two is better, how sure we are, and every sample that says so. */
import type { Comparison, Comparisons } from '@/api/documents';
import { ProblemError } from '@/api/http';
import { useComparison } from '@/api/queries';
import { isSite } from '@/api/site';
import { Difference } from '@/charts/Difference';
import { Mosaic } from '@/charts/Mosaic';
import { Button, Empty, Loaded, PageHead, Section } from '@/components/Basics';
import { pointsText, pText } from '@/numbers/rounding';
import { countText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { path, useParameters } from '@/router/location';
import { t } from '@/text/text';
import { Categories } from './Categories';
import { ChooseSides } from './ChooseSides';
import { CopyLink } from './CopyLink';
import { Flips } from './Flips';
import { LeftOut } from './LeftOut';
import { Matrix } from './Matrix';
import { Price } from './Price';
import { Verdict } from './Verdict';
import { verdictText } from './verdictText';
import './compare.css';

const FLIPS = 500;

export default function CompareScreen() {
  const [parameters] = useParameters();
  const a = parameters.get('a');
  const b = parameters.getAll('b');
  const query = useComparison({ a, b, metric: parameters.get('metric'), flips: FLIPS }, a !== null);
  if (a === null) return <ChooseSides />;
  if (query.error instanceof ProblemError && query.error.status === 422)
    return <NotComparable reasons={[query.error.detail]} />;
  return (
    <Loaded isPage query={query}>
      {(comparisons) => <Compared comparisons={comparisons} />}
    </Loaded>
  );
}

function Compared({ comparisons }: { comparisons: Comparisons }) {
  const [parameters] = useParameters();
  const index = Math.min(Number(parameters.get('pair') ?? 0) || 0, comparisons.comparisons.length - 1);
  const comparison = comparisons.comparisons[index];
  if (!comparison) return <NotComparable reasons={comparisons.not_compared} />;
  return (
    <>
      <Head comparison={comparison} />
      {comparisons.comparisons.length > 1 && <Matrix comparisons={comparisons.comparisons} at={index} />}
      {comparison.n > 0 && (
        <>
          <div className="columns compare-top">
            <Section title={t('compare.difference')} note={t('compare.interval-note')}>
              <Difference comparison={comparison} />
              {comparison.detectable_difference !== null && (
                <p className="muted small">
                  {t('compare.band', {
                    points: pointsText(comparison.detectable_difference).slice(1),
                    n: countText(comparison.n),
                  })}
                </p>
              )}
              {!isSite && (
                <p className="small no-print">
                  <Link to={powerLink(comparison)}>{t('power.title')}</Link>
                </p>
              )}
            </Section>
            <Section title={t('compare.who-was-right')} note={t('compare.samples', { n: countText(comparison.n) })}>
              <Mosaic comparison={comparison} />
            </Section>
            <Section title={t('compare.price')}>
              <Price comparison={comparison} />
            </Section>
          </div>
          <Categories comparison={comparison} />
          <Flips key={index} comparison={comparison} />
        </>
      )}
      <LeftOut comparison={comparison} others={comparisons.not_compared} />
    </>
  );
}

/** Sides of one run say by themselves on how many samples they differ. */
function powerLink({ a, b, benchmark }: Comparison): string {
  if (a.run_id !== b.run_id) return '/power';
  const given = [
    ['run', a.run_id],
    ['on', benchmark],
    ['model', a.name],
    ['model', b.name],
  ];
  return `/power?${new URLSearchParams(given).toString()}`;
}

function Head({ comparison }: { comparison: Comparison }) {
  const { a, b } = comparison;
  const runs = a.run_id === b.run_id ? [a.run_id] : [a.run_id, b.run_id];
  const p = comparison.p_adjusted ?? comparison.p_value;
  const facts = [
    t('compare.against', { a: a.name, b: b.name }),
    comparison.n === 0 ? null : t('compare.lead', { n: countText(comparison.n), test: comparison.test }),
    // The verdict on a difference that is shown says it already, for the same family.
    p === null || (comparison.better !== null && comparison.family === 1)
      ? null
      : `p ${p < 0.0005 ? pText(p) : `= ${pText(p)}`}${comparison.family > 1 ? ` ${t('compare.holm', { n: countText(comparison.family) })}` : ''}`,
  ].filter((one) => one !== null);
  return (
    <PageHead
      trail={
        <>
          {t('nav.compare')} · {comparison.benchmark} {comparison.a.version} ·{' '}
          {comparison.a.score.title ?? comparison.metric} ·{' '}
          {runs.map((run) => (
            <Link key={run} to={path`/runs/${run}`}>
              {run}{' '}
            </Link>
          ))}
        </>
      }
      title={<Verdict comparison={comparison} />}
      lead={facts.join(' · ')}
      tools={
        <>
          <CopyLink />
          <Button onClick={() => globalThis.print()}>{t('action.print')}</Button>
        </>
      }
    >
      {[...comparison.notes, ...comparison.warnings].map((note) => (
        <p key={note} className="notice">
          {note}
        </p>
      ))}
      {comparison.if_unreadable_wrong && <p className="notice">{verdictText(comparison.if_unreadable_wrong)}</p>}
    </PageHead>
  );
}

function NotComparable({ reasons }: { reasons: readonly string[] }) {
  return (
    <>
      <PageHead trail={t('nav.compare')} title={t('compare.impossible')} />
      <Empty title={t('compare.why-not')}>
        <ul>
          {reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
        <Link className="button" to="/compare">
          {t('compare.choose-others')}
        </Link>
      </Empty>
    </>
  );
}
