/** One program to build: what is asked for, what proves it, and who has built it how well. */
import type { ProblemDescription } from '@/api/documents';
import { useProblem } from '@/api/scorecards';
import { Loaded, PageHead, Section, Wide } from '@/components/Basics';
import { Dash } from '@/components/Figures';
import { Foreign } from '@/components/Foreign';
import { Link } from '@/router/Link';
import { t } from '@/text/text';
import { Ranking } from './Ranking';

export default function ProblemScreen({ parameters: { name = '' } }: { parameters: Readonly<Record<string, string>> }) {
  const problem = useProblem(name);
  return (
    <Loaded isPage query={problem}>
      {(found) => (
        <>
          <PageHead
            trail={
              <>
                <Link to="/problems">{t('nav.problems')}</Link> · {found.id} {found.version} · {found.difficulty} ·{' '}
                {found.area} · {found.languages.join(', ')}
              </>
            }
            title={found.title}
            lead={t('problems.must', {
              n: found.requirements.length,
              checks: Object.keys(found.checks).length,
              score: found.pass_score,
            })}
          />
          <Ranking problem={found.id} />
          <Section title={t('problems.brief')}>
            <Foreign text={found.brief} />
          </Section>
          <Requirements problem={found} />
          {Object.keys(found.visible).length > 0 && (
            <Section title={t('problems.visible')}>
              {Object.entries(found.visible).map(([file, text]) => (
                <details key={file}>
                  <summary>
                    <code>{file}</code>
                  </summary>
                  <pre>
                    <Foreign text={text} />
                  </pre>
                </details>
              ))}
            </Section>
          )}
        </>
      )}
    </Loaded>
  );
}

/** Each requirement with the checks that prove it and the mutants that break it. */
function Requirements({ problem }: { problem: ProblemDescription }) {
  const breaking = (id: string) => problem.mutants.filter((one) => one.breaks.includes(id));
  return (
    <Section title={t('problems.requirements')}>
      <Wide label={t('problems.requirements')}>
        <table>
          <thead>
            <tr>
              <th>{t('problems.level')}</th>
              <th>{t('problems.requirement')}</th>
              <th>{t('problems.checks')}</th>
              <th>{t('problems.mutants')}</th>
            </tr>
          </thead>
          <tbody>
            {problem.requirements.map((one) => (
              <tr key={one.id} id={one.id}>
                <td>
                  {one.id} <span className="muted small">{one.level}</span>
                </td>
                <td className="prose">{one.text}</td>
                <td className="small">
                  {one.checks.length === 0 ? <Dash reason={t('card.status.untested')} /> : one.checks.join(', ')}
                </td>
                <td className="small">
                  {breaking(one.id)
                    .map((mutant) => mutant.name)
                    .join(', ')}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </Section>
  );
}
