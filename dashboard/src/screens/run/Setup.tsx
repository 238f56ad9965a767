import type { RunDocument } from '@/api/documents';
import { Section, Wide } from '@/components/Basics';
import { t } from '@/text/text';

/** What was fixed when the run began, so that it can be repeated. */
export function Setup({ run }: { run: RunDocument }) {
  return (
    <Section title={t('run.setup')}>
      <Wide label={t('run.setup')}>
        <table>
          <thead>
            <tr>
              <th>{t('word.model')}</th>
              <th>{t('word.benchmark')}</th>
              <th>{t('word.scorers')}</th>
              <th className="number">{t('word.samples')}</th>
              <th className="number">{t('run.epochs')}</th>
              <th>{t('run.digest')}</th>
            </tr>
          </thead>
          <tbody>
            {run.evaluations.map((one, index) => (
              <tr key={index}>
                <td>
                  <bdi>{one.side}</bdi>
                </td>
                <td>
                  {one.benchmark} {one.version}
                </td>
                <td>
                  {Object.entries(one.scorers)
                    .map(([name, version]) => `${name} ${version}`)
                    .join(', ')}
                </td>
                <td className="number">{one.samples.toLocaleString('en-US')}</td>
                <td className="number">{one.epochs}</td>
                <td>
                  <code className="digest">{one.digest}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </Section>
  );
}
