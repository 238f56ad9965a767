/** One rescoring: how far it is, and old and new scores side by side once it has ended. */
import type { RescoredEvaluation, ServedRescoring } from '@/api/documents';
import { isGoing } from '@/api/queries';
import { useCancelRescoring } from '@/api/rescorings';
import { Ago } from '@/components/Ago';
import { Button, Failure, Section, Wide } from '@/components/Basics';
import { Cost, Estimate } from '@/components/Figures';
import { countText } from '@/numbers/text';
import { t, type TextKey } from '@/text/text';

export function Rescoring({ rescoring, mayRun }: { rescoring: ServedRescoring; mayRun: boolean }) {
  const cancel = useCancelRescoring(rescoring.run_id);
  const { request, result } = rescoring;
  const said = [...(request.scorers ?? []), ...(request.use ?? []), ...(request.judge ?? [])].join(', ');
  return (
    <Section
      title={`${t(`status.${rescoring.status}` as TextKey)} · ${said}`}
      note={<Ago when={rescoring.created_at} />}
      tools={
        isGoing(rescoring) &&
        mayRun && (
          <Button disabled={cancel.isPending} onClick={() => cancel.mutate(rescoring.rescoring_id)}>
            {t('run.stop')}
          </Button>
        )
      }
    >
      {isGoing(rescoring) && (
        <>
          <progress value={rescoring.progress} max={1} aria-label={t('run.progress')} />
          <p className="muted small">
            {t('rescore.scored', { done: countText(rescoring.done), n: countText(rescoring.total) })}
          </p>
        </>
      )}
      {[rescoring.error, isGoing(rescoring) ? rescoring.fault : null]
        .filter((one) => one !== null)
        .map((one) => (
          <p key={one} className="notice foreign">
            {one}
          </p>
        ))}
      {cancel.error && <Failure error={cancel.error} />}
      {result?.evaluations.map((one) => (
        <OldAndNew key={`${one.side} ${one.benchmark}`} evaluation={one} />
      ))}
      {result && (
        <p>{t(result.in_force ? 'rescore.in-force' : result.is_complete ? 'rescore.kept' : 'rescore.partly')}</p>
      )}
    </Section>
  );
}

function OldAndNew({ evaluation }: { evaluation: RescoredEvaluation }) {
  const sides = [
    ...Object.entries(evaluation.before).map(([scorer, figures]) => ({ side: t('rescore.old'), scorer, figures })),
    ...Object.entries(evaluation.after).map(([scorer, figures]) => ({ side: t('rescore.new'), scorer, figures })),
  ];
  const metrics = [...new Set(sides.flatMap(({ figures }) => Object.keys(figures.metrics)))];
  const title = `${evaluation.side} · ${evaluation.benchmark}`;
  return (
    <div className="rescored">
      <h3>
        <bdi>{title}</bdi>
      </h3>
      <Wide label={title}>
        <table>
          <thead>
            <tr>
              <th>{t('rescore.scores')}</th>
              <th>{t('word.scorer')}</th>
              {metrics.map((metric) => (
                <th key={metric} className="number">
                  {metric}
                </th>
              ))}
              <th className="number">{t('rescore.invalid')}</th>
              <th className="number">{t('rescore.unscored')}</th>
            </tr>
          </thead>
          <tbody>
            {sides.map(({ side, scorer, figures }) => (
              <tr key={`${side} ${scorer}`}>
                <td>{side}</td>
                <td>
                  <bdi>{`${scorer}@${figures.version}`}</bdi>
                </td>
                {metrics.map((metric) => (
                  <td key={metric} className="number">
                    <Estimate estimate={figures.metrics[metric]} />
                  </td>
                ))}
                <td className="number">{countText(figures.invalid)}</td>
                <td className="number">{countText(figures.unscored)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
      {evaluation.changes.map((one) => (
        <p key={`${one.from} ${one.to}`}>
          {t('rescore.changed', {
            changed: countText(one.changed),
            n: countText(one.compared),
            higher: countText(one.higher),
            lower: countText(one.lower),
            after: one.to.split('@')[0] ?? one.to,
            before: one.from.split('@')[0] ?? one.from,
          })}
        </p>
      ))}
      {Object.entries(evaluation.after).flatMap(([scorer, { judges }]) =>
        Object.entries(judges ?? {}).map(([judge, work]) => (
          <p key={`${scorer} ${judge}`} className="muted small">
            {t('rescore.judged', {
              scorer,
              judge,
              verdicts: countText(work.verdicts),
              unreadable: countText(work.unreadable),
              requests: countText(work.requests),
            })}{' '}
            <Cost usd={work.cost_usd} basis={work.cost_basis} />
          </p>
        )),
      )}
      {evaluation.already_scored > 0 && (
        <p className="muted small">{t('rescore.already', { n: countText(evaluation.already_scored) })}</p>
      )}
    </div>
  );
}
