/** What was asked and what it cost, by day, user or key, model or project; what nobody knows is said to be unknown. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { UsageItem, UsageReport } from '@/api/documents';
import { request } from '@/api/http';
import { useMay } from '@/api/session';
import { Loaded, Section, Wide } from '@/components/Basics';
import { Field, Select } from '@/components/Fields';
import { Count, Dash, Seconds } from '@/components/Figures';
import { bytesText, costText, countText } from '@/numbers/text';
import { useParameters } from '@/router/location';
import { plural, t } from '@/text/text';

const GROUPS = ['day', 'user', 'model', 'project'] as const;
type Group = (typeof GROUPS)[number];

export function UsagePart() {
  const isAdmin = useMay('admin:full');
  const [parameters, change] = useParameters();
  const group = GROUPS.find((one) => one === parameters.get('by')) ?? 'day';
  const isAll = isAdmin && parameters.get('all') === '1';
  const query = {
    by: group,
    since: parameters.get('since'),
    until: parameters.get('until'),
    ...(isAll ? { all_projects: 'true' } : {}),
  };
  const usage = useQuery({
    queryKey: ['usage', query],
    queryFn: ({ signal }) => request<UsageReport>('/usage', { query, signal }),
    placeholderData: keepPreviousData,
  });
  const day = (name: 'since' | 'until') => (
    <Field label={t(`usage.${name}`)}>
      <input
        className="input"
        type="date"
        value={parameters.get(name) ?? usage.data?.[name] ?? ''}
        onChange={(event) => change({ [name]: event.target.value || null }, { replace: true })}
      />
    </Field>
  );
  return (
    <>
      <div className="filters">
        <Field label={t('usage.by')}>
          <Select
            value={group}
            change={(next) => change({ by: next })}
            options={GROUPS.map((one) => [one, t(`usage.by.${one}`)])}
          />
        </Field>
        {day('since')}
        {day('until')}
        {isAdmin && (
          <label className="check">
            <input
              type="checkbox"
              checked={isAll}
              onChange={(event) => change({ all: event.target.checked ? '1' : null })}
            />
            {t('usage.all')}
          </label>
        )}
      </div>
      <Loaded query={usage}>
        {(report) => (
          <>
            <Section
              title={t('usage.title')}
              note={t('usage.note', { since: String(report.since), until: String(report.until) })}
            >
              {report.items.length === 0 ? (
                <p className="muted">{t('usage.none')}</p>
              ) : (
                <Used items={report.items} group={(report.by[0] as Group | undefined) ?? group} />
              )}
            </Section>
            <Storage report={report} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Used({ items, group }: { items: readonly UsageItem[]; group: Group }) {
  const numbers = ['runs', 'answers', 'cached', 'failed', 'input', 'output', 'cost', 'workers', 'machines'] as const;
  return (
    <Wide label={t('usage.title')} height={520}>
      <table>
        <thead>
          <tr>
            <th>{t(`usage.by.${group}`)}</th>
            {numbers.map((name) => (
              <th key={name} className="number">
                {t(`usage.${name}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((one) => (
            <tr key={one[group] ?? ''}>
              <td>{one[group] === null ? <Dash reason={t('usage.nobody')} /> : <bdi>{one[group]}</bdi>}</td>
              {[one.runs, one.answers, one.cached, one.failed, one.input_tokens, one.output_tokens].map((n, index) => (
                <td key={index} className="number">
                  <Count value={n} />
                </td>
              ))}
              <td className="number">
                <Spent item={one} />
              </td>
              <td className="number">
                <Seconds value={one.worker_seconds} reason={t('usage.not-by-model')} />
              </td>
              <td className="number">
                {one.workers_usd === null ? <Dash reason={t('usage.no-price')} /> : costText(one.workers_usd)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

/** With answers whose price nobody knows the sum is only a part of the bill, and without any other it is unknown. */
function Spent({ item }: { item: UsageItem }) {
  if (item.unpriced === 0) return <>{costText(item.cost_usd)}</>;
  const unknown = plural('usage.unpriced', item.unpriced, countText(item.unpriced));
  return (
    <>
      {item.cost_usd > 0 ? `${costText(item.cost_usd)} + ` : ''}
      <span className="mark-invalid small">{unknown}</span>
    </>
  );
}

function Storage({ report }: { report: UsageReport }) {
  if (report.storage.length === 0) return null;
  return (
    <Section title={t('usage.storage')} note={t('usage.storage.note')}>
      <Wide label={t('usage.storage')}>
        <table>
          <thead>
            <tr>
              <th>{t('usage.by.project')}</th>
              <th className="number">{t('usage.bytes')}</th>
              <th className="number">{t('usage.monthly')}</th>
            </tr>
          </thead>
          <tbody>
            {report.storage.map((one) => (
              <tr key={one.project}>
                <td>
                  <bdi>{one.project}</bdi>
                </td>
                <td className="number">{bytesText(one.bytes)}</td>
                <td className="number">
                  {one.usd_a_month === null ? <Dash reason={t('usage.no-price')} /> : costText(one.usd_a_month)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </Section>
  );
}
