import type { EvaluationSummary } from '@/api/documents';
import { decimalText } from '@/numbers/rounding';
import { countText } from '@/numbers/text';
import { t } from '@/text/text';

const SMALL_SHARE = 0.01;

/** What a metric's value may hide: trials without a mark, unreadable ones, undecided comparisons, marks to be forged. */
export function caveatsOf(evaluation: EvaluationSummary, metric: string): string[] {
  const estimate = evaluation.metrics[metric];
  const found: string[] = [];
  if (estimate && estimate.value !== null) {
    const { unmeasured, unreadable, title, value } = estimate;
    const said = (count: number, worst: number) =>
      t('run.caveat.counted-wrong', {
        n: countText(count),
        metric: title ?? metric,
        worst: decimalText(worst),
        value: decimalText(value),
      });
    const done = evaluation.trials - evaluation.stopped - evaluation.pending;
    // Marks that could not be read count from the first on, because an answer might bring them about.
    const isMany = (unreadable ?? 0) > 0 || (unmeasured ?? 0) > SMALL_SHARE * done;
    if (unmeasured && isMany && typeof estimate.if_unmeasured_wrong === 'number')
      found.push(said(unmeasured, estimate.if_unmeasured_wrong));
    else if (unreadable && typeof estimate.if_unreadable_wrong === 'number')
      found.push(said(unreadable, estimate.if_unreadable_wrong));
  }
  // A run that waits has evaluations without judges.
  for (const judges of Object.values((evaluation as Partial<EvaluationSummary>).judges ?? {}))
    for (const [judge, work] of Object.entries(judges))
      if (work.undecided > 0)
        found.push(
          t('run.caveat.undecided', { n: countText(work.undecided), all: countText(work.verdicts), judge: judge }),
        );
  if (evaluation.is_forgeable) found.push(t('run.caveat.forgeable'));
  return found;
}
