/** What people said against what scorers said, and the score with the scorers' errors taken out. */
import type { MetricEstimate, ScorerReview } from '@/api/documents';
import { useAgreement } from '@/api/review';
import { Chart } from '@/charts/Chart';
import { Axis, IntervalCell } from '@/charts/IntervalCell';
import { scaleOf } from '@/charts/scale';
import { Loaded, Section, Wide } from '@/components/Basics';
import { Dash, Estimate } from '@/components/Figures';
import { decimalText } from '@/numbers/rounding';
import { countText, intervalText } from '@/numbers/text';
import { t } from '@/text/text';

interface AgreementProps {
  run: string;
  model: string | null;
  benchmark: string | null;
}

export function Agreement({ run, model, benchmark }: AgreementProps) {
  const found = useAgreement(run, { model, benchmark });
  return (
    <Loaded query={found}>
      {({ scorers }) =>
        scorers.length === 0 ? (
          <Section title={t('review.agreement')}>
            <p className="muted">{t('review.agreement.none')}</p>
          </Section>
        ) : (
          <>
            <Kappas scorers={scorers} />
            <Corrected scorers={scorers} />
          </>
        )
      }
    </Loaded>
  );
}

const nameOf = (one: ScorerReview) => `${one.side} · ${one.benchmark} · ${one.scorer}`;

function Kappas({ scorers }: { scorers: readonly ScorerReview[] }) {
  return (
    <Section title={t('review.agreement')} note={t('review.agreement.note')}>
      <Wide label={t('review.agreement')}>
        <table>
          <thead>
            <tr>
              <th>{t('word.scorer')}</th>
              <th className="number">{t('review.both-right')}</th>
              <th className="number">{t('review.both-wrong')}</th>
              <th className="number">{t('review.only-people')}</th>
              <th className="number">{t('review.only-scorer')}</th>
              <th className="number">kappa</th>
            </tr>
          </thead>
          <tbody>
            {scorers.map((one) => (
              <tr key={nameOf(one)}>
                <td>
                  <bdi>{nameOf(one)}</bdi> <span className="muted small">{one.version}</span>
                </td>
                <td className="number">{countText(one.both_right)}</td>
                <td className="number">{countText(one.both_wrong)}</td>
                <td className="number">{countText(one.only_people)}</td>
                <td className="number">{countText(one.only_scorer)}</td>
                <td className="number">
                  {one.kappa.value === null ? (
                    <Dash reason={t('review.kappa.undefined')} />
                  ) : (
                    <strong title={String(one.kappa.value)}>{decimalText(one.kappa.value)}</strong>
                  )}{' '}
                  <span className="muted small">
                    {one.kappa.ci95 && intervalText(one.kappa.ci95 as [number, number])} n={countText(one.kappa.n)}
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </Section>
  );
}

const csvRow = (name: string, what: string, { value, ci95, n }: MetricEstimate) => [
  name,
  what,
  value,
  ...(ci95 ?? [null, null]),
  n,
];

/** Both intervals on one axis: how far they are apart is what the scorer gets wrong. */
function Corrected({ scorers }: { scorers: readonly ScorerReview[] }) {
  const counting = scorers.filter((one) => one.counts);
  const ends = counting.flatMap((one) => [...(one.scored.ci95 ?? []), ...(one.corrected.ci95 ?? [])]);
  const scale = scaleOf(ends, { clamp: [0, 1], wanted: 5 });
  const csv = [
    ['evaluation', 'estimate', 'value', 'low', 'high', 'n'],
    ...counting.flatMap((one) => [
      csvRow(nameOf(one), 'scorer', one.scored),
      csvRow(nameOf(one), 'corrected', one.corrected),
    ]),
  ];
  return (
    <Section title={t('review.corrected')} note={t('review.corrected.note')}>
      <Chart title={t('review.corrected')} table={csv}>
        <Wide label={t('review.corrected')}>
          <table className="review-corrected">
            <tbody>
              {counting.map((one) => [
                <tr key={`${nameOf(one)} scorer`}>
                  <td rowSpan={2}>
                    <bdi>{`${one.side} · ${one.benchmark}`}</bdi>
                    <p className="muted small">
                      {t('review.drawn', { n: countText(one.drawn) })}
                      {one.skipped > 0 && `, ${t('review.drawn.skipped', { n: countText(one.skipped) })}`}
                    </p>
                  </td>
                  <td>{t('review.plain')}</td>
                  <td className="interval-cell">
                    <IntervalCell estimate={one.scored} scale={scale} />
                  </td>
                  <td className="number">
                    <Estimate estimate={one.scored} />
                  </td>
                </tr>,
                <tr key={`${nameOf(one)} corrected`}>
                  <td>{t('review.corrected.row')}</td>
                  <td className="interval-cell">
                    <IntervalCell estimate={one.corrected} scale={scale} series={1} />
                  </td>
                  <td className="number">
                    <Estimate
                      estimate={one.corrected}
                      reason={t('review.needs', { needed: one.needed, n: countText(one.drawn) })}
                    />
                  </td>
                </tr>,
              ])}
              <tr aria-hidden="true">
                <td className="axis" colSpan={2} />
                <td className="axis">
                  <Axis scale={scale} />
                </td>
                <td className="axis" />
              </tr>
            </tbody>
          </table>
        </Wide>
      </Chart>
    </Section>
  );
}
