/** What narrows the list; all of it is in the address. */
import { useCallback } from 'react';
import { useRun } from '@/api/queries';
import { Field, Search, Select } from '@/components/Fields';
import { useParameters, type Changes } from '@/router/location';
import { t, type TextKey } from '@/text/text';
import { FILTERS, type FilterName } from './filters';

const OUTCOMES = ['scored', 'invalid', 'failed'];
const MARKS = ['full', 'below', 'zero'];
const MORE: readonly FilterName[] = ['prompt', 'answer', 'reason', 'error', 'latency', 'cost', 'tokens', 'disputed'];

export const NO_FILTERS: Changes = Object.fromEntries([...FILTERS, 'at'].map((name) => [name, null]));

export function Filters({ run, hasRepeats }: { run: string; hasRepeats: boolean }) {
  const [parameters, change] = useParameters();
  const found = useRun(run);
  const evaluations = found.data?.evaluations ?? [];
  const any = ['', t('filter.any')] as const;
  const names = (values: readonly string[]) => [any, ...[...new Set(values)].map((one) => [one, one] as const)];
  const value = (name: string) => parameters.get(name) ?? '';
  const set = (changes: Changes) => change({ ...changes, at: null });
  const categories = evaluations
    .filter((one) => !parameters.get('benchmark') || one.benchmark === parameters.get('benchmark'))
    .flatMap((one) => Object.keys(one.categories));
  const hasMore = MORE.some((name) => parameters.get(name));
  return (
    <>
      <div className="filters">
        <TextFilter name="text" label={t('samples.search')} />
        <Field label={t('word.model')}>
          <Select
            value={value('model')}
            change={(model) => set({ model })}
            options={names(evaluations.flatMap((one) => [one.model, one.side]))}
          />
        </Field>
        <Field label={t('word.benchmark')}>
          <Select
            value={value('benchmark')}
            change={(benchmark) => set({ benchmark, category: null })}
            options={names(evaluations.map((one) => one.benchmark))}
          />
        </Field>
        {categories.length > 0 && (
          <Field label={t('word.category')}>
            <Select value={value('category')} change={(category) => set({ category })} options={names(categories)} />
          </Field>
        )}
        <Field label={t('word.outcome')}>
          <Select
            value={value('outcome')}
            change={(outcome) => set({ outcome })}
            options={[any, ...OUTCOMES.map((one) => [one, t(`outcome.${one}` as TextKey)] as const)]}
          />
        </Field>
        <Field label={t('samples.mark')}>
          <Select
            value={value('mark')}
            change={(mark) => set({ mark })}
            options={[any, ...MARKS.map((one) => [one, t(`samples.mark.${one}` as TextKey)] as const)]}
          />
        </Field>
      </div>
      <details className="more-filters" open={hasMore || undefined}>
        <summary className="muted small">{t('samples.more-filters')}</summary>
        <div className="filters">
          <TextFilter name="prompt" label={t('samples.prompt-text')} />
          <TextFilter name="answer" label={t('samples.answer-text')} />
          <TextFilter name="reason" label={t('samples.reason')} />
          <TextFilter name="error" label={t('samples.error-text')} />
          <TextFilter name="latency" label={t('samples.latency-from')} />
          <TextFilter name="cost" label={t('samples.cost-from')} />
          <TextFilter name="tokens" label={t('samples.tokens-from')} />
          <label className="check">
            <input
              type="checkbox"
              checked={parameters.get('disputed') === '1'}
              onChange={(event) => set({ disputed: event.target.checked ? '1' : null })}
            />
            {t('samples.disputed')}
          </label>
          {hasRepeats && (
            <label className="check">
              <input
                type="checkbox"
                checked={parameters.get('repeats') === 'all'}
                onChange={(event) => set({ repeats: event.target.checked ? 'all' : null })}
              />
              {t('samples.repeats.unfold')}
            </label>
          )}
        </div>
      </details>
    </>
  );
}

function TextFilter({ name, label }: { name: FilterName; label: string }) {
  const [parameters, change] = useParameters();
  const search = useCallback((text: string) => change({ [name]: text, at: null }, { replace: true }), [change, name]);
  return <Search label={label} value={parameters.get(name) ?? ''} change={search} />;
}
