import type { RunDocument } from '@/api/documents';
import { Section, SideName, Wide } from '@/components/Basics';
import { Cost, Count } from '@/components/Figures';
import { t } from '@/text/text';

/** What the run spent: by model, by judges, and in all. */
export function Money({ run }: { run: RunDocument }) {
  const { totals } = run;
  return (
    <Section title={t('run.money')} note={t(totals.cost_basis === 'free' ? 'run.money.free' : 'run.money.note')}>
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
