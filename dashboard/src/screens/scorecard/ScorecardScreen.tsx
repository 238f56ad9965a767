/** A program's scorecard: the verdict, requirements by checks, the figures, then the code. */
import type { ProgramCard } from '@/api/documents';
import { useScorecard } from '@/api/scorecards';
import { Loaded, PageHead } from '@/components/Basics';
import { decimalText, figureText } from '@/numbers/rounding';
import { Link } from '@/router/Link';
import { path } from '@/router/location';
import { samplesLink } from '@/screens/samples/link';
import { t } from '@/text/text';
import { Code } from './Code';
import { Dimensions, Measured, Phases } from './Measures';
import { Requirements } from './Requirements';
import './scorecard.css';

export default function ScorecardScreen({
  parameters: { card = '' },
}: {
  parameters: Readonly<Record<string, string>>;
}) {
  const found = useScorecard(card);
  return (
    <Loaded isPage query={found}>
      {(shown) => (
        <>
          <PageHead
            trail={<Trail card={shown} />}
            title={verdictOf(shown)}
            lead={shown.passed ? undefined : shown.reason}
          >
            {[...(shown.remarks ?? []), shown.note ?? ''].filter(Boolean).map((remark) => (
              <p key={remark} className="notice">
                {remark}
              </p>
            ))}
          </PageHead>
          <Requirements card={shown} />
          <Dimensions card={shown} />
          <Measured card={shown} />
          <Phases card={shown} />
          <Code card={shown} />
        </>
      )}
    </Loaded>
  );
}

function Trail({ card }: { card: ProgramCard }) {
  const { problem, run_id: run, model, sample_id: sample } = card;
  return (
    <>
      <Link to="/problems">{t('nav.problems')}</Link> · <Link to={path`/problems/${problem.id}`}>{problem.title}</Link>{' '}
      {problem.version} · <bdi>{card.name ?? model}</bdi>
      {run && (
        <>
          {' · '}
          <Link to={samplesLink(run, { model, at: sample })}>{run}</Link>
        </>
      )}
    </>
  );
}

/** As `reports/scorecard_page.py` says it. */
export function verdictOf({
  total,
  covers,
  passed,
  grade,
}: Pick<ProgramCard, 'total' | 'covers' | 'passed' | 'grade'>) {
  if (total === null) return t('card.verdict.nothing');
  const values = { total: decimalText(total), covers: figureText(covers), grade: grade ?? '' };
  if (!passed) return t('card.verdict.failed', values);
  return grade === null ? t('card.verdict.passed', values) : t('card.verdict.graded', values);
}
