/** Every answer of a run: a list of any length on the left, what was asked, answered and marked on the right. */
import { useEffect, useRef, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { findNext, isResultId, useResultList, type ResultList } from '@/api/results';
import type { Query } from '@/api/http';
import { useRun } from '@/api/queries';
import { ProblemError } from '@/api/http';
import { useResult } from '@/api/review';
import { useKeys } from '@/app/keys';
import { Button, Empty, Failure, Loading, PageHead } from '@/components/Basics';
import { VirtualList } from '@/components/VirtualList';
import { countText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { path, useParameters } from '@/router/location';
import { plural, t } from '@/text/text';
import { Filters, NO_FILTERS } from './Filters';
import { isFiltered, queryOf } from './filters';
import { SampleDetail } from './SampleDetail';
import { SampleRow } from './SampleRow';
import './samples.css';

const ROW_HEIGHT = 58;

export default function SamplesScreen({ parameters: { run = '' } }: { parameters: Readonly<Record<string, string>> }) {
  const [parameters, change] = useParameters();
  const found = useRun(run);
  const hasRepeats = found.data?.evaluations.some((one) => one.epochs > 1) ?? false;
  const isFolded = hasRepeats && parameters.get('repeats') !== 'all';
  const filters = queryOf(parameters, isFolded);
  const clear = isFiltered(parameters) ? () => change(NO_FILTERS) : null;
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
      {found.error && found.data === undefined ? (
        <Failure error={found.error} retry={() => void found.refetch()} />
      ) : found.data === undefined ? (
        <Loading lines={8} />
      ) : (
        <>
          <Filters run={run} hasRepeats={hasRepeats} />
          <Browser key={JSON.stringify(filters)} run={run} filters={filters} isFolded={isFolded} clear={clear} />
        </>
      )}
    </>
  );
}

interface BrowserProps {
  run: string;
  filters: Query;
  isFolded: boolean;
  clear: (() => void) | null;
}

/** An address may name a sample instead of a result; it then leads to the first result of it that fits. */
function useNamedSample(run: string, filters: Query, at: string | null, found: (id: string) => void) {
  const name = at !== null && !isResultId(at) ? at : null;
  const query = useQuery({
    queryKey: ['run', run, 'named', filters, name],
    queryFn: () => findNext(run, { ...filters, sample: name }),
    enabled: name !== null,
  });
  const id = query.data ?? null;
  useEffect(() => {
    if (name !== null && id !== null) found(id);
  }, [name, id, found]);
}

function Browser({ run, filters, isFolded, clear }: BrowserProps) {
  const [parameters, change] = useParameters();
  const [notice, setNotice] = useState('');
  const at = parameters.get('at');
  const list = useResultList(run, filters, at);
  const open = (id: string | undefined) => {
    setNotice('');
    if (id !== undefined) change({ at: id }, { replace: true });
  };
  const [openNamed] = useState(() => (id: string) => change({ at: id }, { replace: true }));
  useNamedSample(run, filters, at, openNamed);
  const first = list.row(0);
  const current = isResultId(at) ? at : (first?.result_id ?? null);
  const index = current === null ? 0 : (list.indexOf(current) ?? 0);
  const details = useResult(run, current);
  // A link to a result that is not there any more shows no other in its place.
  const isGone = details.error instanceof ProblemError && details.error.status === 404;
  const shown = details.data ?? list.row(index);
  // Where one goes while its row is on its way: keys pressed meanwhile count from there, and the last one wins.
  const wanted = useRef<number | null>(null);
  const go = async (to: number) => {
    const place = Math.max(0, list.isCounted ? Math.min(to, list.total - 1) : to);
    wanted.current = place;
    try {
      const row = list.row(place) ?? (await list.fetchRow(place));
      if (wanted.current === place) open(row?.result_id);
    } catch (error) {
      if (wanted.current === place) setNotice(error instanceof Error ? error.message : String(error));
    }
    if (wanted.current === place) wanted.current = null;
  };
  const step = (by: number) => void go((wanted.current ?? index) + by);
  const next = async (query: Query) => {
    const id = await findNext(run, { ...filters, ...query, after: current ?? '0' });
    if (id === null) setNotice(t('samples.no-next'));
    else open(id);
  };
  useKeys([
    { key: 'j', label: t('keys.next'), run: () => step(1) },
    { key: 'k', label: t('keys.previous'), run: () => step(-1) },
    { key: 'w', label: t('samples.next-wrong'), run: () => void next({ wrong: 'true' }) },
    { key: 'e', label: t('samples.next-fault'), run: () => void next({ outcome: 'failed' }) },
  ]);
  if (list.total === 0 && (list.isCounted || list.error)) {
    if (list.error) return <Failure error={list.error} retry={list.refetch} />;
    return (
      <Empty title={clear ? t('samples.none-match') : t('samples.none')}>
        {clear && <Button onClick={clear}>{t('filter.clear')}</Button>}
      </Empty>
    );
  }
  if (list.isLoading) return <Loading lines={8} />;
  return (
    <>
      <div className="samples-head">
        <span className="small muted" role="status">
          {list.isCounted ? plural('samples.total', list.total, countText(list.total)) : t('samples.counting')}
          {notice && ` · ${notice}`}
        </span>
        {list.total > 100 && <Jump list={list} go={(place) => void go(place)} />}
      </div>
      <div className="samples">
        <VirtualList
          label={t('samples.title')}
          count={list.total}
          rowHeight={ROW_HEIGHT}
          at={index}
          seen={list.see}
          row={(place) => {
            const item = list.row(place);
            if (!item) return <div className="sample-row waiting" aria-hidden="true" />;
            return <SampleRow result={item} isAt={item.result_id === current} open={() => open(item.result_id)} />;
          }}
        />
        {isGone && details.error ? (
          <div className="sample-detail">
            <Failure error={details.error} retry={() => open(first?.result_id)} />
          </div>
        ) : shown ? (
          <SampleDetail key={shown.result_id} result={shown} hasRepeats={isFolded} />
        ) : (
          <Loading />
        )}
      </div>
    </>
  );
}

/** Any row by its number. */
function Jump({ list, go }: { list: ResultList; go: (place: number) => void }) {
  const [typed, setTyped] = useState('');
  return (
    <form
      className="jump no-print"
      onSubmit={(event) => {
        event.preventDefault();
        const row = Number(typed.replaceAll(/[,.\s]/g, ''));
        if (Number.isInteger(row) && row > 0) go(row - 1);
      }}
    >
      <label className="small muted">
        {t('samples.jump')}{' '}
        <input
          className="input"
          inputMode="numeric"
          size={9}
          placeholder={countText(list.total)}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </label>
    </form>
  );
}
