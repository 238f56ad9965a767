import { useState } from 'react';
import { useAdminChange } from '@/api/administration';
import type { ListedBudget } from '@/api/documents';
import { useMay } from '@/api/session';
import { Button } from '@/components/Basics';
import { Dash } from '@/components/Figures';
import { costText } from '@/numbers/text';
import { path } from '@/router/location';
import { t, type TextKey } from '@/text/text';
import { BudgetForm } from './BudgetForm';
import { Listing } from './Listing';

const usd = (value: number | string) => costText(Number(value));

/** What may be spent, and what of it is; changed by administrators. */
export function Budgets() {
  const mayChange = useMay('admin:full');
  const change = useAdminChange();
  const [changed, setChanged] = useState<ListedBudget | null>(null);
  return (
    <Listing<ListedBudget>
      title={t('budget.title')}
      note={t('budget.note')}
      path="/budgets"
      keyOf={(one) => `${one.kind} ${one.subject}`}
      error={change.error}
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
        ...(mayChange
          ? [
              {
                head: '',
                isNumber: true,
                cell: (one: ListedBudget) => (
                  <span className="buttons end">
                    <Button onClick={() => setChanged(one)}>{t('budget.change')}</Button>
                    <Button
                      onClick={() =>
                        change.mutate({ method: 'DELETE', path: path`/budgets/${one.kind}/${one.subject}` })
                      }
                    >
                      {t('settings.remove')}
                    </Button>
                  </span>
                ),
              },
            ]
          : []),
      ]}
    >
      {mayChange && (
        <BudgetForm
          key={changed === null ? '' : `${changed.kind} ${changed.subject}`}
          of={changed}
          isBusy={change.isPending}
          set={(kind, subject, body) => change.mutate({ method: 'PUT', path: path`/budgets/${kind}/${subject}`, body })}
        />
      )}
    </Listing>
  );
}
