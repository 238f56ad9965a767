import type { ListedBudget } from '@/api/documents';
import { Dash } from '@/components/Figures';
import { costText } from '@/numbers/text';
import { t, type TextKey } from '@/text/text';
import { Listing } from './Listing';

const usd = (value: number | string) => costText(Number(value));

/** What may be spent, and what of it is. */
export function Budgets() {
  return (
    <Listing<ListedBudget>
      title={t('budget.title')}
      note={t('budget.note')}
      path="/budgets"
      keyOf={(one) => `${one.kind} ${one.subject}`}
      columns={[
        {
          head: t('budget.subject'),
          cell: (one) => (
            <>
              <span className="muted small">{one.kind}</span> <bdi>{one.subject}</bdi>
            </>
          ),
        },
        { head: t('budget.spent'), isNumber: true, cell: (one) => usd(one.spent_usd) },
        {
          head: t('budget.limit'),
          isNumber: true,
          cell: (one) =>
            one.cost_usd === null ? (
              <Dash reason={t('budget.no-limit')} />
            ) : (
              `${usd(one.cost_usd)} ${t(`budget.per.${one.per}` as TextKey)}`
            ),
        },
        {
          head: t('budget.runs'),
          isNumber: true,
          cell: (one) => `${one.runs_now}${one.runs_at_once === null ? '' : ` / ${one.runs_at_once}`}`,
        },
      ]}
    />
  );
}
