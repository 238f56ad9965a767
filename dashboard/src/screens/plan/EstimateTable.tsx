import type { DryRun } from '@/api/documents';
import { Wide } from '@/components/Basics';
import { Dash } from '@/components/Figures';
import { costText, countText } from '@/numbers/text';
import { t } from '@/text/text';

/** What the run would ask and cost, evaluation by evaluation. */
export function EstimateTable({ estimate }: { estimate: DryRun }) {
  return (
    <>
      <p>
        <strong>{t('plan.trials', { n: countText(estimate.trials) })}</strong> · <Costs cost={estimate.cost} />
      </p>
      {estimate.missing_keys.length > 0 && (
        <p className="notice">{t('plan.missing-keys', { keys: estimate.missing_keys.join(', ') })}</p>
      )}
      <Wide label={t('plan.estimate')}>
        <table>
          <thead>
            <tr>
              <th>{t('word.model')}</th>
              <th>{t('word.benchmark')}</th>
              <th className="number">{t('word.samples')}</th>
              <th className="number">{t('word.trials')}</th>
              <th className="number">{t('runs.cost')}</th>
            </tr>
          </thead>
          <tbody>
            {estimate.evaluations.map((one, index) => (
              <tr key={index}>
                <td>{one.side}</td>
                <td>
                  {one.benchmark} {one.version}
                </td>
                <td className="number">{countText(one.samples)}</td>
                <td className="number">{countText(one.trials)}</td>
                <td className="number">
                  <Costs cost={one.cost} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </>
  );
}

function Costs({ cost }: { cost: DryRun['cost'] }) {
  if (cost.value_usd === null) return <Dash reason={cost.basis} />;
  const [low, high] = cost.ci95_usd ?? [];
  return (
    <span title={cost.basis}>
      {costText(cost.value_usd, 'computed')}
      {low !== undefined && high !== undefined && high > low && (
        <span className="muted small">
          {' '}
          [{costText(low)}, {costText(high)}]
        </span>
      )}
    </span>
  );
}
