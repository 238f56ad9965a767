/** Every answer of a run: a list on the left, what was asked, answered and marked on the right. */
import { useCallback } from 'react';
import type { TrialResult } from '@/api/documents';
import { useResults, useRun } from '@/api/queries';
import { useKeys } from '@/app/keys';
import { Button, Empty, Failure, Loading, PageHead } from '@/components/Basics';
import { Field, Search, Select } from '@/components/Fields';
import { VirtualList } from '@/components/VirtualList';
import { Link } from '@/router/Link';
import { path, useParameters, type Changes } from '@/router/location';
import { plural, t, type TextKey } from '@/text/text';
import { keyOf, SampleRow } from './SampleRow';
import { SampleDetail } from './SampleDetail';
import './samples.css';

const FILTERS = ['model', 'benchmark', 'category', 'outcome', 'text'] as const;
const OUTCOMES = ['scored', 'invalid', 'failed', 'stopped'];
const ROW_HEIGHT = 58;

export default function SamplesScreen({ parameters: { run = '' } }: { parameters: Readonly<Record<string, string>> }) {
  const [parameters, change] = useParameters();
  const filters = Object.fromEntries(FILTERS.map((name) => [name, parameters.get(name)]));
  const results = useResults(run, filters);
  const clear = () => change(Object.fromEntries(FILTERS.map((name) => [name, null])));
  return (
    <>
      <PageHead
        trail={
          <>
            <Link to="/runs">{t('nav.runs')}</Link> · <Link to={path`/runs/${run}`}>{run}</Link> · {t('samples.title')}
          </>
        }
        title={t('samples.heading')}
      />
      <Filters run={run} />
      {results.data === undefined ? (
        results.error ? (
          <Failure error={results.error} retry={() => void results.refetch()} />
        ) : (
          <Loading lines={8} />
        )
      ) : (
        <Browser
          key={JSON.stringify(filters)}
          items={results.data.pages.flatMap((page) => page.items)}
          more={results.hasNextPage && !results.isFetchingNextPage ? () => void results.fetchNextPage() : null}
          isComplete={!results.hasNextPage}
          clear={Object.values(filters).some(Boolean) ? clear : null}
        />
      )}
    </>
  );
}

function Filters({ run }: { run: string }) {
  const [parameters, change] = useParameters();
  const found = useRun(run);
  const evaluations = found.data?.evaluations ?? [];
  const any = ['', t('filter.any')] as const;
  const names = (values: readonly string[]) => [any, ...[...new Set(values)].map((one) => [one, one] as const)];
  const set = useCallback((changes: Changes) => change({ ...changes, at: null }), [change]);
  const search = useCallback((text: string) => change({ text, at: null }, { replace: true }), [change]);
  const categories = evaluations
    .filter((one) => !parameters.get('benchmark') || one.benchmark === parameters.get('benchmark'))
    .flatMap((one) => Object.keys(one.categories));
  return (
    <div className="filters">
      <Search label={t('samples.search')} value={parameters.get('text') ?? ''} change={search} />
      <Field label={t('word.model')}>
        <Select
          value={parameters.get('model') ?? ''}
          change={(model) => set({ model })}
          options={names(evaluations.map((one) => one.model))}
        />
      </Field>
      <Field label={t('word.benchmark')}>
        <Select
          value={parameters.get('benchmark') ?? ''}
          change={(benchmark) => set({ benchmark, category: null })}
          options={names(evaluations.map((one) => one.benchmark))}
        />
      </Field>
      {categories.length > 0 && (
        <Field label={t('word.category')}>
          <Select
            value={parameters.get('category') ?? ''}
            change={(category) => set({ category })}
            options={names(categories)}
          />
        </Field>
      )}
      <Field label={t('word.outcome')}>
        <Select
          value={parameters.get('outcome') ?? ''}
          change={(outcome) => set({ outcome })}
          options={[any, ...OUTCOMES.map((one) => [one, t(`outcome.${one}` as TextKey)] as const)]}
        />
      </Field>
    </div>
  );
}

interface BrowserProps {
  items: readonly TrialResult[];
  more: (() => void) | null;
  isComplete: boolean;
  clear: (() => void) | null;
}

function Browser({ items, more, isComplete, clear }: BrowserProps) {
  const [parameters, change] = useParameters();
  const wanted = parameters.get('at');
  const found = items.findIndex((one) => keyOf(one) === wanted || one.sample_id === wanted);
  const index = Math.max(0, found);
  const go = (to: number) => {
    const next = items[Math.min(Math.max(to, 0), items.length - 1)];
    if (next) change({ at: keyOf(next) }, { replace: true });
    if (to >= items.length - 5) more?.();
  };
  const nextWrong = () => {
    const next = items.findIndex((one, place) => place > index && !isRight(one));
    if (next >= 0) go(next);
    else more?.();
  };
  useKeys([
    { key: 'j', label: t('keys.next'), run: () => go(index + 1) },
    { key: 'k', label: t('keys.previous'), run: () => go(index - 1) },
    { key: 'w', label: t('samples.next-wrong'), run: nextWrong },
  ]);
  if (items.length === 0) {
    return (
      <Empty title={clear ? t('samples.none-match') : t('samples.none')}>
        {clear && <Button onClick={clear}>{t('filter.clear')}</Button>}
      </Empty>
    );
  }
  const current = items[index];
  const shown = items.length.toLocaleString('en-US');
  return (
    <>
      <p className="small muted" role="status">
        {isComplete ? plural('samples.count', items.length) : t('samples.loaded', { n: shown })}
      </p>
      <div className="samples">
        <VirtualList
          label={t('samples.title')}
          count={items.length}
          rowHeight={ROW_HEIGHT}
          at={index}
          nearEnd={more ?? undefined}
          row={(place) => {
            const item = items[place];
            return item ? <SampleRow result={item} isAt={place === index} open={() => go(place)} /> : null;
          }}
        />
        {current && <SampleDetail key={keyOf(current)} result={current} />}
      </div>
    </>
  );
}

const isRight = (result: TrialResult) => Object.values(result.scores)[0]?.value === 1;
