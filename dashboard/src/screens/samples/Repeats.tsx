/** All repeats of one sample in one row each, equal answers counted together. */
import type { TrialResult } from '@/api/documents';
import { useRepeats } from '@/api/results';
import { Foreign } from '@/components/Foreign';
import { Link } from '@/router/Link';
import { withParameters } from '@/router/location';
import { t } from '@/text/text';
import { Block } from './Block';
import { Mark } from './SampleRow';

/** What was read out of a response; where nothing was, the response itself. */
const answerOf = (result: TrialResult) =>
  Object.values(result.scores)[0]?.answer ?? result.response ?? result.error ?? '';

export function Repeats({ result }: { result: TrialResult }) {
  const found = useRepeats(result, true);
  const items = found.data?.items ?? [];
  if (items.length < 2) return null;
  const groups = new Map<string, TrialResult[]>();
  for (const one of items) groups.set(answerOf(one), [...(groups.get(answerOf(one)) ?? []), one]);
  const sorted = [...groups].sort(([, one], [, other]) => other.length - one.length);
  return (
    <Block title={t('samples.repeats')}>
      <p className="small muted">{t('samples.repeats.note', { n: items.length, distinct: groups.size })}</p>
      <table>
        <tbody>
          {sorted.map(([answer, same]) => (
            <tr key={answer}>
              <td className="number">{same.length} ×</td>
              <td>
                <Foreign text={answer} limit={400} />
              </td>
              <td>{same[0] && <Mark result={same[0]} />}</td>
              <td className="small">
                {same.map((one) => (
                  <Link key={one.result_id} className="epoch" to={withParameters({ at: one.result_id })}>
                    {one.epoch + 1}
                  </Link>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Block>
  );
}
