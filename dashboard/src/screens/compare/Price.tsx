/** What being better costs: score, money, time and faults of the two sides beside each other. */
import type { ReactNode } from 'react';
import type { ComparedSide, Comparison } from '@/api/documents';
import { SideName } from '@/components/Basics';
import { Cost, Estimate, Seconds } from '@/components/Figures';
import { countText, intervalText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { t } from '@/text/text';
import { samplesLink } from '@/screens/samples/link';

export function Price({ comparison }: { comparison: Comparison }) {
  const sides = [comparison.a, comparison.b];
  const link = (side: ComparedSide, outcome?: string) =>
    samplesLink(side.run_id, { model: side.model, benchmark: comparison.benchmark, outcome: outcome ?? null });
  const rows: [string, (side: ComparedSide) => ReactNode][] = [
    [comparison.metric, (side) => <Estimate bare estimate={side.score} to={link(side)} />],
    [
      t('compare.interval'),
      (side) => (
        <span className="muted">{side.score.ci95 ? intervalText(side.score.ci95 as [number, number]) : ''}</span>
      ),
    ],
    ['n', (side) => countText(side.score.n)],
    [t('compare.cost-per-answer'), (side) => <Cost small usd={side.cost_usd_per_answer} basis={side.cost_basis} />],
    [t('compare.cost'), (side) => <Cost usd={side.cost_usd} basis={side.cost_basis} />],
    [t('compare.latency.p50'), (side) => <Seconds value={side.latency_seconds.p50} />],
    [t('compare.latency.p95'), (side) => <Seconds value={side.latency_seconds.p95} />],
    [t('outcome.invalid'), (side) => <Link to={link(side, 'invalid')}>{countText(side.invalid)}</Link>],
    [t('outcome.failed'), (side) => <Link to={link(side, 'failed')}>{countText(side.failed)}</Link>],
  ];
  return (
    <table>
      <thead>
        <tr>
          <td />
          {sides.map((side, index) => (
            <th key={index} className="number side-head">
              <SideName index={index} name={side.name} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([label, cell]) => (
          <tr key={label}>
            <th>{label}</th>
            {sides.map((side, index) => (
              <td key={index} className="number">
                {cell(side)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
