/** Programs that were built for a problem, best first; two of them are compared. */
import { useState } from 'react';
import type { MarkedProgram } from '@/api/documents';
import { cardOf, useRanking } from '@/api/scorecards';
import { useKeys } from '@/app/keys';
import { Button, Loaded, Section, Wide } from '@/components/Basics';
import { Dash } from '@/components/Figures';
import { decimalText, figureText } from '@/numbers/rounding';
import { agoText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { navigate, path } from '@/router/location';
import { t, useLanguage } from '@/text/text';

export function Ranking({ problem }: { problem: string }) {
  const ranking = useRanking(problem);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const choose = (card: string) =>
    setChosen(chosen.includes(card) ? chosen.filter((one) => one !== card) : [...chosen, card].slice(-2));
  const [a, b] = chosen;
  const compare = () => {
    if (a && b) navigate(`/scorecards?${new URLSearchParams({ a, b }).toString()}`);
  };
  useKeys([{ key: 'c', label: t('keys.compare'), run: compare }]);
  return (
    <Section
      title={t('problems.ranking')}
      note={t('problems.ranking.note')}
      tools={
        <Button onClick={compare} disabled={!a || !b} shortcut="c">
          {t('card.compare')}
        </Button>
      }
    >
      <Loaded query={ranking} lines={2}>
        {({ ranked, apart }) =>
          ranked.length + apart.length === 0 ? (
            <>
              <p>{t('problems.ranking.none')}</p>
              <p className="muted small">{t('problems.ranking.how', { problem })}</p>
            </>
          ) : (
            <>
              {ranked.length > 0 && <Programs programs={ranked} chosen={chosen} choose={choose} />}
              {apart.map((group) => (
                <div key={group.problem_digest + group.revision}>
                  <h3 className="muted">{t('problems.apart')}</h3>
                  <Programs programs={group.entries} chosen={chosen} choose={choose} />
                </div>
              ))}
            </>
          )
        }
      </Loaded>
    </Section>
  );
}

interface ProgramsProps {
  programs: readonly MarkedProgram[];
  chosen: readonly string[];
  choose: (card: string) => void;
}

function Programs({ programs, chosen, choose }: ProgramsProps) {
  const language = useLanguage();
  return (
    <Wide label={t('problems.ranking')}>
      <table>
        <thead>
          <tr>
            <th>
              <span className="hidden">{t('runs.choose')}</span>
            </th>
            <th>{t('leaderboard.rank')}</th>
            <th>{t('card.code')}</th>
            <th className="number">{t('card.mark')}</th>
            <th>{t('runs.status')}</th>
            <th className="number">{t('runs.began')}</th>
          </tr>
        </thead>
        <tbody>
          {programs.map((one) => {
            const card = cardOf(one);
            return (
              <tr key={card}>
                <td>
                  <input
                    type="checkbox"
                    checked={chosen.includes(card)}
                    onChange={() => choose(card)}
                    aria-label={t('runs.choose-one', { run: one.name })}
                  />
                </td>
                <td>{one.rank ?? <Dash reason={t('reason.not-measured')} />}</td>
                <td>
                  {one.covers === null ? (
                    <bdi>{one.name}</bdi>
                  ) : (
                    <Link to={path`/scorecards/${card}`}>
                      <bdi>{one.name}</bdi>
                    </Link>
                  )}{' '}
                  <span className="muted small">{one.submission_id ?? one.run_id}</span>
                  {one.is_forgeable && <p className="muted small">{t('card.forgeable')}</p>}
                </td>
                <td className="number">
                  {one.total === null ? (
                    <Dash reason={t('reason.not-measured')} />
                  ) : (
                    <span title={String(one.total)}>
                      <strong>{decimalText(one.total)}</strong>
                      {one.covers !== null && <span className="muted small"> / {figureText(one.covers)}</span>}
                    </span>
                  )}
                </td>
                <td className={one.passed ? 'mark-right' : 'mark-wrong'}>
                  {one.passed ? t('card.passed') : t('card.failed')}
                  {one.grade !== null && <span className="muted"> {one.grade}</span>}
                </td>
                <td className="number">{agoText(new Date(one.created_at), new Date(), language)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Wide>
  );
}
