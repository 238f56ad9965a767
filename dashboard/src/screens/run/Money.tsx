import type { RunDocument } from '@/api/documents';
import { isGoing } from '@/api/queries';
import { Section, SideName, Wide } from '@/components/Basics';
import { Cost, Count } from '@/components/Figures';
import { costText } from '@/numbers/text';
import { t } from '@/text/text';

/** What the run spent: by model, by judges, and in all. */
export function Money({ run, limit }: { run: RunDocument; limit: number | null }) {
  const { totals } = run;
  return (
    <Section title={t('run.money')} note={t(totals.cost_basis === 'free' ? 'run.money.free' : 'run.money.note')}>
      <Spend run={run} limit={limit} />
      <Wide label={t('run.money')}>
        <table>
          <thead>
            <tr>
              <th>{t('word.model')}</th>
              <th className="number">{t('samples.tokens-in')}</th>
              <th className="number">{t('samples.tokens-out')}</th>
              <th className="number">{t('run.cost-per-right')}</th>
              <th className="number">{t('runs.cost')}</th>
            </tr>
          </thead>
          <tbody>
            {run.evaluations.map((one, index) => (
              <tr key={index}>
                <td>
                  <SideName index={index} name={one.side} />
                </td>
                <td className="number">
                  <Count value={one.usage.input_tokens} />
                </td>
                <td className="number">
                  <Count value={one.usage.output_tokens} />
                </td>
                <td className="number">
                  <Cost small usd={one.cost_per_correct_usd} basis={one.cost_basis} />
                </td>
                <td className="number">
                  <Cost usd={one.cost_usd} basis={one.cost_basis} />
                </td>
              </tr>
            ))}
            {totals.judges_cost_usd !== null && (
              <tr>
                <td colSpan={4}>{t('run.judges')}</td>
                <td className="number">
                  <Cost usd={totals.judges_cost_usd} basis={totals.cost_basis} />
                </td>
              </tr>
            )}
            <tr>
              <th colSpan={4}>{t('run.total')}</th>
              <td className="number">
                <strong>
                  <Cost usd={totals.cost_usd} basis={totals.cost_basis} />
                </strong>
              </td>
            </tr>
          </tbody>
        </table>
      </Wide>
    </Section>
  );
}

/** What all will cost at the price so far of each model's answers; null where one has none yet, or no known price. */
export function expectedCost(run: RunDocument): number | null {
  let [models, asked, wanted] = [0, 0, 0];
  for (const one of run.evaluations) {
    const answered = one.trials - one.pending - one.stopped;
    if (one.cost_usd === null || answered === 0) return null;
    models += (one.cost_usd / answered) * (one.trials - one.stopped);
    asked += answered;
    wanted += one.trials - one.stopped;
  }
  // Judges are asked about each answer.
  return models + (asked === 0 ? 0 : ((run.totals.judges_cost_usd ?? 0) / asked) * wanted);
}

/** Spent, expected and allowed on one bar; nothing where there is nothing to pay or no more to come. */
function Spend({ run, limit }: { run: RunDocument; limit: number | null }) {
  const { cost_usd: spent, cost_basis: basis } = run.totals;
  const expected = isGoing(run) ? expectedCost(run) : null;
  if (spent === null || (expected ?? spent) === 0) return null;
  if (expected === null && limit === null) return null;
  const whole = Math.max(spent, expected ?? 0, limit ?? 0);
  const width = (usd: number) => `${(100 * usd) / whole}%`;
  return (
    <div className="spend">
      <div className="spend-bar" aria-hidden="true">
        {expected !== null && <i className="expected" style={{ width: width(expected) }} />}
        <i className="spent" style={{ width: width(spent) }} />
        {limit !== null && <i className="limit" style={{ left: width(limit) }} />}
      </div>
      <p className="small">
        {[
          t('run.spent', { usd: costText(spent, basis) }),
          expected === null ? null : t('run.expected', { usd: costText(expected, 'computed') }),
          limit === null ? null : t('run.cost-limit', { usd: costText(limit) }),
        ]
          .filter((one) => one !== null)
          .join(' · ')}
      </p>
    </div>
  );
}
