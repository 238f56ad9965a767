/** Two programs for one problem: which requirements flipped, how the marks moved, what changed in the files. */
import type { ScorecardDifference } from '@/api/documents';
import { ProblemError } from '@/api/http';
import { useScorecardDifference } from '@/api/scorecards';
import { Empty, Loaded, PageHead, Section, SideName, Wide } from '@/components/Basics';
import { Dash } from '@/components/Figures';
import { Foreign } from '@/components/Foreign';
import { decimalText, differenceText, figureText } from '@/numbers/rounding';
import { Link } from '@/router/Link';
import { path, useParameters } from '@/router/location';
import { CopyLink } from '@/screens/compare/CopyLink';
import { plural, t } from '@/text/text';
import { verdictOf } from './ScorecardScreen';
import './scorecard.css';

export default function ScorecardsScreen() {
  const [parameters] = useParameters();
  const a = parameters.get('a') ?? '';
  const b = parameters.get('b') ?? '';
  if (a === '' || b === '') {
    return (
      <>
        <PageHead trail={t('nav.scorecard')} title={t('compare.choose')} />
        <Empty title={t('card.choose')}>
          <Link className="button" to="/problems">
            {t('nav.problems')}
          </Link>
        </Empty>
      </>
    );
  }
  return <Difference a={a} b={b} />;
}

function Difference({ a, b }: { a: string; b: string }) {
  const found = useScorecardDifference(a, b);
  if (found.error instanceof ProblemError && found.error.status !== 0 && found.data === undefined) {
    return (
      <>
        <PageHead trail={t('nav.scorecard')} title={t('compare.impossible')} />
        <Empty title={t('compare.why-not')}>
          <p>{found.error.detail}</p>
          <Link className="button" to="/problems">
            {t('nav.problems')}
          </Link>
        </Empty>
      </>
    );
  }
  return (
    <Loaded isPage query={found}>
      {(difference) => <Compared difference={difference} cards={[a, b]} />}
    </Loaded>
  );
}

interface ComparedProps {
  difference: ScorecardDifference;
  cards: readonly [string, string];
}

function Compared({ difference, cards }: ComparedProps) {
  const flipped = difference.requirements.length;
  return (
    <>
      <PageHead
        trail={
          <>
            <Link to="/problems">{t('nav.problems')}</Link> ·{' '}
            <Link to={path`/problems/${difference.problem.id}`}>{difference.problem.title}</Link>
          </>
        }
        title={flipped === 0 ? t('card.same') : plural('card.flipped', flipped)}
        tools={<CopyLink />}
      >
        {[difference.a, difference.b].map((side, index) => (
          <p key={index}>
            <Link to={path`/scorecards/${cards[index] ?? ''}`}>
              <SideName index={index} name={cards[index] ?? ''} />
            </Link>{' '}
            {verdictOf(side)} <span className="muted">{side.reason}</span>
          </p>
        ))}
        {!difference.is_comparable && <p className="notice">{t('card.other-problem')}</p>}
        {difference.remarks.map((remark) => (
          <p key={remark} className="notice">
            {remark}
          </p>
        ))}
      </PageHead>
      <Flipped difference={difference} />
      <Figures title={t('card.dimensions')} what={t('card.dimension')} rows={difference.dimensions} />
      {difference.measures.length > 0 && (
        <Figures
          title={t('card.figures')}
          what={t('card.measure')}
          rows={difference.measures.map(({ name, a, b }) => ({
            name: name.replaceAll('_', ' '),
            a,
            b,
            difference: null,
            is_comparable: true,
          }))}
          isRaw
        />
      )}
      <Files difference={difference} />
    </>
  );
}

function Flipped({ difference }: { difference: ScorecardDifference }) {
  if (difference.requirements.length === 0) return null;
  return (
    <Section title={t('card.changed')}>
      <Wide label={t('card.changed')}>
        <table>
          <thead>
            <tr>
              <th>{t('problems.level')}</th>
              <th>{t('problems.requirement')}</th>
              <th>
                <SideName index={0} name="A" />
              </th>
              <th>
                <SideName index={1} name="B" />
              </th>
            </tr>
          </thead>
          <tbody>
            {difference.requirements.map((one) => (
              <tr key={one.id}>
                <td>
                  {one.id} <span className="muted small">{one.level}</span>
                </td>
                <td className="prose">{one.text}</td>
                {[one.a, one.b].map((status, index) => (
                  <td key={index} className={`requirement-${status}`}>
                    {t(`card.status.${status}`)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </Section>
  );
}

interface FiguresProps {
  title: string;
  what: string;
  rows: ScorecardDifference['dimensions'];
  isRaw?: boolean;
}

function Figures({ title, what, rows, isRaw = false }: FiguresProps) {
  const shown = (value: number | null) =>
    value === null ? (
      <Dash reason={t('reason.not-measured')} />
    ) : (
      <span title={String(value)}>{isRaw ? figureText(value) : decimalText(value)}</span>
    );
  return (
    <Section title={title}>
      <Wide label={title}>
        <table>
          <thead>
            <tr>
              <th>{what}</th>
              <th className="number">A</th>
              <th className="number">B</th>
              {!isRaw && <th className="number">{t('compare.difference')}</th>}
            </tr>
          </thead>
          <tbody>
            {rows.map((one) => (
              <tr key={one.name}>
                <td>{one.name}</td>
                <td className="number">{shown(one.a)}</td>
                <td className="number">{shown(one.b)}</td>
                {!isRaw && (
                  <td className="number">
                    {one.difference === null ? (
                      <Dash reason={t('card.no-difference')} />
                    ) : (
                      differenceText(one.difference)
                    )}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </Section>
  );
}

function Files({ difference }: { difference: ScorecardDifference }) {
  if (difference.files.length === 0) return null;
  return (
    <Section title={t('card.files')}>
      {difference.files.map((one) => (
        <details key={one.path} className="code-file">
          <summary>
            <code>{one.path}</code> <span className="muted small">{t(`card.state.${one.state}`)}</span>
          </summary>
          <pre className="file-diff">
            {one.diff.split('\n').map((line, index) => (
              <span key={index} className={lineClass(line)}>
                <Foreign text={line || ' '} limit={2_000} />
              </span>
            ))}
          </pre>
        </details>
      ))}
    </Section>
  );
}

const lineClass = (line: string) =>
  line.startsWith('+') ? 'line-added' : line.startsWith('-') ? 'line-removed' : 'line-same';
