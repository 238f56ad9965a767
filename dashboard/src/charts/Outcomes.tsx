/** What became of all trials, as one bar; each part leads to its samples. */
import type { EvaluationSummary } from '@/api/documents';
import { countText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { t, type TextKey } from '@/text/text';
import './charts.css';

const KINDS = ['scored', 'invalid', 'failed', 'stopped', 'pending'] as const;
const FILL = { scored: 'right', invalid: 'invalid', failed: 'failed', stopped: 'stopped', pending: 'pending' } as const;

export function Outcomes({ evaluation, link }: { evaluation: EvaluationSummary; link: (outcome: string) => string }) {
  const shown = KINDS.filter((kind) => evaluation[kind] > 0 || kind === 'scored');
  return (
    <div>
      <div className="outcomes" aria-hidden="true">
        {shown.map((kind) => (
          <span key={kind} className={`fill-${FILL[kind]}`} style={{ flexGrow: evaluation[kind] }} />
        ))}
      </div>
      <div className="outcome-legend">
        {shown.map((kind) => {
          const text = (
            <>
              <i className={`fill-${FILL[kind]}`} />
              {countText(evaluation[kind])} {t(`outcome.${kind}` as TextKey)}
            </>
          );
          // What was not answered is no sample to look at.
          return kind === 'stopped' || kind === 'pending' ? (
            <span key={kind}>{text}</span>
          ) : (
            <Link key={kind} to={link(kind)}>
              {text}
            </Link>
          );
        })}
      </div>
    </div>
  );
}
