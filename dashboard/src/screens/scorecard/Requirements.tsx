/** Requirements by checks: each row a sentence of the brief, each column what proves it. */
import type { ProgramCard } from '@/api/documents';
import { useKeys } from '@/app/keys';
import { Button, Section, Wide } from '@/components/Basics';
import { Foreign } from '@/components/Foreign';
import { useParameters } from '@/router/location';
import { t, type TextKey } from '@/text/text';

type Check = ProgramCard['evidence']['checks'][number];

const SIGNS: Readonly<Record<string, string>> = { passed: '●', failed: '✕', error: '!', 'not run': '–' };
const checkText = (status: string) => t(`card.check.${status.replace(' ', '-')}` as TextKey);

export function Requirements({ card }: { card: ProgramCard }) {
  const [parameters, change] = useParameters();
  const isFailing = parameters.get('failing') === '1';
  const toggle = () => change({ failing: isFailing ? null : '1' }, { replace: true });
  useKeys([{ key: 't', label: t('card.only-failing'), run: toggle }]);
  const checks = new Map(card.evidence.checks.filter((one) => !one.is_generated).map((one) => [one.name, one]));
  const rows = card.requirements.filter((one) => !isFailing || one.status !== 'verified');
  const names = [...new Set(rows.flatMap((one) => one.checks))];
  const count = (status: string) => card.requirements.filter((one) => one.status === status).length;
  return (
    <Section
      title={t('card.requirements')}
      note={t('card.requirements.note', {
        verified: count('verified'),
        failed: count('failed'),
        untested: count('untested'),
      })}
      tools={
        <Button aria-pressed={isFailing} onClick={toggle} shortcut="t">
          {t('card.only-failing')}
        </Button>
      }
    >
      {rows.length === 0 ? (
        <p className="muted">{t('card.nothing-failing')}</p>
      ) : (
        <Wide isGrid label={t('card.requirements')}>
          <table className="requirement-grid">
            <thead>
              <tr>
                <th scope="col">{t('problems.requirement')}</th>
                <th scope="col">{t('runs.status')}</th>
                {names.map((name) => (
                  <th key={name} scope="col" className="check-name">
                    <span title={name}>{name.replaceAll('_', ' ')}</span>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((one) => (
                <tr key={one.id}>
                  <th scope="row" title={one.text}>
                    {one.id} <span className="muted small">{one.level}</span>
                    <span className="requirement-text">{one.text}</span>
                  </th>
                  <td className={`requirement-${one.status}`}>{t(`card.status.${one.status}`)}</td>
                  {names.map((name) => (
                    <td key={name} className="check-cell">
                      {one.checks.includes(name) && <Cell check={checks.get(name)} name={name} />}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      )}
      <FailedChecks checks={[...checks.values()].filter((one) => one.status !== 'passed')} />
    </Section>
  );
}

function Cell({ check, name }: { check: Check | undefined; name: string }) {
  const status = check?.status ?? 'not run';
  const text = `${name}: ${checkText(status)}`;
  return (
    <span className={`check-${status.replace(' ', '-')}`} role="img" aria-label={text} title={text}>
      {SIGNS[status] ?? '–'}
    </span>
  );
}

function FailedChecks({ checks }: { checks: readonly Check[] }) {
  if (checks.length === 0) return null;
  return (
    <div className="failed-checks">
      <h3>{t('card.checks-failed')}</h3>
      {checks.map((one) => (
        <details key={one.name}>
          <summary>
            <span className={`check-${one.status.replace(' ', '-')}`} aria-hidden="true">
              {SIGNS[one.status]}
            </span>{' '}
            {one.name.replaceAll('_', ' ')} <span className="muted small">{checkText(one.status)}</span>
          </summary>
          <pre>
            <Foreign text={one.message} limit={8_000} />
          </pre>
        </details>
      ))}
    </div>
  );
}
