/** All runs, newest first, searchable; two of them are compared with `c`. */
import { useState } from 'react';
import { useDeletions } from '@/api/deletions';
import { isAsk, useRuns, type RunFilters } from '@/api/queries';
import type { ListedRun } from '@/api/documents';
import { useMay } from '@/api/session';
import { isSite } from '@/api/site';
import { useKeys } from '@/app/keys';
import { Button, Empty, Loaded, PageHead } from '@/components/Basics';
import { Field, Search, Select } from '@/components/Fields';
import { Link } from '@/router/Link';
import { navigate, useParameters } from '@/router/location';
import { t, type TextKey } from '@/text/text';
import { RunTable, runLink } from './RunTable';

/** Every pair of models of all of them is compared: more would be no answer. */
const MAX_RUNS = 6;

const KINDS = ['playground', 'all'];
const STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled'];

export default function RunsScreen() {
  const [parameters, change] = useParameters();
  const mayRun = useMay('run:write');
  const filters: RunFilters = {
    text: parameters.get('text'),
    status: parameters.get('status'),
    model: parameters.get('model'),
    benchmark: parameters.get('benchmark'),
    tag: parameters.get('tag'),
    kind: parameters.get('kind'),
  };
  const runs = useRuns(filters, 50);
  const leaving = useDeletions().flatMap((one) => (one.error === null ? [one.run] : []));
  const isFiltered = Object.values(filters).some(Boolean);
  return (
    <>
      <PageHead
        trail={t('nav.runs')}
        title={t('runs.title')}
        tools={
          mayRun && (
            <Link className="button main" to="/plan">
              {t('runs.new')}
            </Link>
          )
        }
      />
      <div className="filters">
        <Search
          label={t('runs.search')}
          value={filters.text ?? ''}
          change={(text) => change({ text }, { replace: true })}
        />
        <Field label={t('runs.status')}>
          <Select
            value={filters.status ?? ''}
            change={(status) => change({ status })}
            options={[['', t('filter.any')], ...STATUSES.map((one) => [one, t(`status.${one}` as TextKey)] as const)]}
          />
        </Field>
        {!isSite && (
          <Search
            label={t('runs.tag')}
            value={filters.tag ?? ''}
            change={(tag) => change({ tag }, { replace: true })}
          />
        )}
        {!isSite && (
          <Field label={t('runs.kind')}>
            <Select
              value={filters.kind ?? ''}
              change={(kind) => change({ kind })}
              options={[
                ['', t('runs.kind.evaluation')],
                ...KINDS.map((one) => [one, t(`runs.kind.${one}` as TextKey)] as const),
              ]}
            />
          </Field>
        )}
      </div>
      <Loaded query={runs}>
        {(data) => {
          const items = data.pages.flatMap((page) => page.items).filter((run) => !leaving.includes(run.run_id));
          if (items.length > 0)
            return <List items={items} more={runs.hasNextPage ? () => void runs.fetchNextPage() : null} />;
          return isFiltered ? (
            <Empty title={t('runs.none-match')}>
              <Button
                onClick={() =>
                  change({ text: null, status: null, model: null, benchmark: null, tag: null, kind: null })
                }
              >
                {t('filter.clear')}
              </Button>
            </Empty>
          ) : (
            <Empty title={t('runs.none')}>
              <Link className="button" to="/">
                {t('home.demo')}
              </Link>
            </Empty>
          );
        }}
      </Loaded>
    </>
  );
}

function List({ items, more }: { items: readonly ListedRun[]; more: (() => void) | null }) {
  const [parameters, change] = useParameters();
  const [at, setAt] = useState(0);
  const chosen = parameters.get('choose')?.split(',') ?? [];
  const choose = (run: string) => {
    const next = chosen.includes(run) ? chosen.filter((one) => one !== run) : [...chosen, run].slice(-MAX_RUNS);
    change({ choose: next.join(',') }, { replace: true });
  };
  const [first, ...rest] = items.filter((run) => chosen.includes(run.run_id)).reverse();
  const compare = () => {
    if (!first || rest.length === 0) return;
    const query = new URLSearchParams([['a', first.run_id], ...rest.map((run) => ['b', run.run_id])]);
    navigate(`/compare?${query.toString()}`);
  };
  const move = (by: number) => setAt(Math.min(Math.max(at + by, 0), items.length - 1));
  const current = items[at];
  useKeys([
    { key: 'j', label: t('keys.next'), run: () => move(1) },
    { key: 'k', label: t('keys.previous'), run: () => move(-1) },
    { key: 'x', label: t('keys.choose'), run: () => current && !isAsk(current) && choose(current.run_id) },
    { key: 'c', label: t('keys.compare'), run: compare },
    { key: 'Enter', label: t('keys.open'), run: () => current && navigate(runLink(current)) },
  ]);
  return (
    <>
      <div className="buttons no-print" style={{ marginBottom: 8 }}>
        <Button onClick={compare} disabled={rest.length === 0} shortcut="c">
          {rest.length > 1 ? t('runs.compare.several', { n: rest.length + 1 }) : t('runs.compare')}
        </Button>
        <span className="muted small">{t('runs.compare.hint')}</span>
      </div>
      <RunTable runs={items} at={at} chosen={chosen} choose={choose} />
      {more && (
        <div className="buttons" style={{ marginTop: 16 }}>
          <Button onClick={more}>{t('action.more')}</Button>
        </div>
      )}
    </>
  );
}
