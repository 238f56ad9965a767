/** Programs to build from requirements. */
import { useProblems } from '@/api/queries';
import { Empty, Loaded, PageHead, Wide } from '@/components/Basics';
import { countText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { path } from '@/router/location';
import { t } from '@/text/text';

export default function ProblemsScreen() {
  const problems = useProblems();
  return (
    <>
      <PageHead
        trail={t('nav.problems')}
        title={problems.data ? t('problems.title', { n: countText(problems.data.length) }) : t('nav.problems')}
        lead={t('problems.lead')}
      />
      <Loaded query={problems}>
        {(all) =>
          all.length === 0 ? (
            <Empty title={t('problems.none')} />
          ) : (
            <Wide label={t('nav.problems')}>
              <table>
                <thead>
                  <tr>
                    <th>{t('word.problem')}</th>
                    <th>{t('problems.name')}</th>
                    <th>{t('problems.difficulty')}</th>
                    <th>{t('problems.area')}</th>
                    <th>{t('problems.languages')}</th>
                    <th className="number">{t('problems.requirements')}</th>
                    <th className="number">{t('problems.checks')}</th>
                    <th className="number">{t('problems.mutants')}</th>
                  </tr>
                </thead>
                <tbody>
                  {all.map((one) => (
                    <tr key={one.id}>
                      <td>
                        <Link to={path`/problems/${one.id}`}>{one.id}</Link>
                      </td>
                      <td>{one.title}</td>
                      <td>{one.difficulty}</td>
                      <td>{one.area}</td>
                      <td>{one.languages.join(', ')}</td>
                      <td className="number">{countText(one.requirements)}</td>
                      <td className="number">{countText(one.checks)}</td>
                      <td className="number">{countText(one.mutants)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Wide>
          )
        }
      </Loaded>
    </>
  );
}
