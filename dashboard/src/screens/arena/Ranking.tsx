/** Models ranked by what people preferred without knowing who is who. */
import { usePreferences } from '@/api/playground';
import { Section, Wide } from '@/components/Basics';
import { countText } from '@/numbers/text';
import { plural, t } from '@/text/text';

export function Ranking() {
  const { data } = usePreferences();
  if (!data || data.models.length === 0) return null;
  return (
    <Section title={t('arena.ranking')} note={plural('arena.votes', data.votes)}>
      <Wide label={t('arena.ranking')}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('word.model')}</th>
              <th scope="col" className="number">
                {t('arena.rank')}
              </th>
              <th scope="col" className="number">
                {t('arena.rating')}
              </th>
              <th scope="col" className="number">
                {t('arena.wins')}
              </th>
              <th scope="col" className="number">
                n
              </th>
            </tr>
          </thead>
          <tbody>
            {data.models.map((one) => (
              <tr key={one.model}>
                <th scope="row">
                  <bdi>{one.model}</bdi>
                </th>
                <td className="number">
                  {one.rank[0] === one.rank[1] ? one.rank[0] : `${one.rank[0]}–${one.rank[1]}`}
                </td>
                <td className="number">
                  {Math.round(one.rating)}{' '}
                  <span className="muted small">
                    [{Math.round(one.ci95[0])}, {Math.round(one.ci95[1])}]
                  </span>
                </td>
                <td className="number">
                  {one.wins} / {one.ties} / {one.losses}
                </td>
                <td className="number">{countText(one.votes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
      <p className="muted small">{t('arena.ranking.method')}</p>
    </Section>
  );
}
