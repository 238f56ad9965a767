/** What the marks are made of: dimensions, measures beside the gold solution's, what tools found, the phases. */
import type { ProgramCard } from '@/api/documents';
import { Chart } from '@/charts/Chart';
import { Section, Wide } from '@/components/Basics';
import { Dash } from '@/components/Figures';
import { Foreign } from '@/components/Foreign';
import { decimalText, figureText } from '@/numbers/rounding';
import { secondsText } from '@/numbers/text';
import { t } from '@/text/text';

export function Dimensions({ card }: { card: ProgramCard }) {
  const csv = [
    ['dimension', 'mark', 'weight', 'remark'],
    ...card.dimensions.map(({ name, value, weight, reason }) => [name, value, weight, reason]),
  ];
  return (
    <Section title={t('card.dimensions')}>
      <Chart title={t('card.dimensions')} table={csv}>
        <Wide label={t('card.dimensions')}>
          <table>
            <thead>
              <tr>
                <th>{t('card.dimension')}</th>
                <th className="bar-column">
                  <span className="hidden">{t('card.mark')}</span>
                </th>
                <th className="number">{t('card.mark')}</th>
                <th className="number">{t('card.weight')}</th>
                <th>{t('word.reason')}</th>
              </tr>
            </thead>
            <tbody>
              {card.dimensions.map((one) => (
                <tr key={one.name}>
                  <td>{one.name}</td>
                  <td className="bar-column">
                    <svg className="bar" aria-hidden="true">
                      <rect width="100%" height="8" y="5" rx="2" fill="var(--neutral-soft)" />
                      {one.value !== null && (
                        <rect width={`${one.value * 100}%`} height="8" y="5" rx="2" fill="var(--side-b)" />
                      )}
                    </svg>
                  </td>
                  <td className="number">
                    {one.value === null ? (
                      <Dash reason={one.reason || t('reason.not-measured')} />
                    ) : (
                      <strong title={String(one.value)}>{decimalText(one.value)}</strong>
                    )}
                  </td>
                  <td className="number">{figureText(one.weight)}</td>
                  <td className="muted small">{one.reason}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      </Chart>
    </Section>
  );
}

export function Measured({ card }: { card: ProgramCard }) {
  if (card.thresholds.length === 0) return null;
  return (
    <Section title={t('card.figures')} note={t('card.figures.note')}>
      <Wide label={t('card.figures')}>
        <table>
          <thead>
            <tr>
              <th>{t('card.measure')}</th>
              <th className="number">{t('card.value')}</th>
              <th className="number">{t('card.gold')}</th>
              <th className="number">{t('card.bound')}</th>
              <th>{t('runs.status')}</th>
            </tr>
          </thead>
          <tbody>
            {card.thresholds.map((one) => (
              <tr key={`${one.measure} ${one.unit}`}>
                <td>{one.measure.replaceAll('_', ' ')}</td>
                {[one.value, one.gold].map((value, index) => (
                  <td key={index} className="number">
                    {value === null ? (
                      <Dash reason={t('reason.not-measured')} />
                    ) : (
                      <span title={String(value)}>{figureText(value)}</span>
                    )}
                  </td>
                ))}
                <td className="number">
                  {one.is_upper ? '≤' : '≥'} {figureText(one.bound)} {one.unit}
                </td>
                <td className={one.is_met ? 'mark-right' : 'mark-wrong'}>
                  {one.is_met === null ? (
                    <Dash reason={t('reason.not-measured')} />
                  ) : one.is_met ? (
                    t('card.met')
                  ) : (
                    t('card.not-met')
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </Section>
  );
}

export function Phases({ card }: { card: ProgramCard }) {
  const findings: readonly [string, unknown][] = Object.entries(card.evidence.findings);
  return (
    <Section title={t('card.phases')}>
      <Wide label={t('card.phases')}>
        <table>
          <thead>
            <tr>
              <th>{t('card.phase')}</th>
              <th>{t('runs.status')}</th>
              <th className="number">{t('runs.took')}</th>
            </tr>
          </thead>
          <tbody>
            {card.evidence.phases.map((one) => (
              <tr key={one.name}>
                <td>
                  {one.log ? (
                    <details>
                      <summary>{one.name}</summary>
                      <pre>
                        <Foreign text={one.log} limit={8_000} />
                      </pre>
                    </details>
                  ) : (
                    one.name
                  )}
                </td>
                <td className={one.status === 'done' ? '' : 'mark-wrong'}>{one.status}</td>
                <td className="number">{secondsText(one.seconds)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
      {findings.length > 0 && (
        <div className="failed-checks">
          <h3>{t('card.findings')}</h3>
          {findings.map(([tool, found]) => (
            <details key={tool}>
              <summary>{tool}</summary>
              <pre>
                <Foreign text={JSON.stringify(found, null, 2)} />
              </pre>
            </details>
          ))}
        </div>
      )}
    </Section>
  );
}
