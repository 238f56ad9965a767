/** The small parts of every screen: buttons, sections, markers, states. */
import { useLayoutEffect, useRef, type ButtonHTMLAttributes, type ReactNode } from 'react';
import { ProblemError } from '@/api/http';
import { Link } from '@/router/Link';
import { t } from '@/text/text';
import './components.css';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: 'main' | 'quiet';
  shortcut?: string;
}

export function Button({ kind, shortcut, children, className = '', ...rest }: ButtonProps) {
  return (
    <button type="button" className={`button ${kind ?? ''} ${className}`} {...rest}>
      {children}
      {shortcut && <kbd aria-hidden="true">{shortcut}</kbd>}
    </button>
  );
}

interface PageHeadProps {
  trail: ReactNode;
  title: ReactNode;
  lead?: ReactNode;
  tools?: ReactNode;
  children?: ReactNode;
}

/** A page says first what was found; where one is stands above it, small. */
export function PageHead({ trail, title, lead, tools, children }: PageHeadProps) {
  return (
    <header className="page-head">
      <div className="trail">
        <span>{trail}</span>
        {tools && <span className="buttons no-print">{tools}</span>}
      </div>
      <h1>{title}</h1>
      {lead && <p className="lead">{lead}</p>}
      {children}
    </header>
  );
}

interface SectionProps {
  title: string;
  note?: ReactNode;
  tools?: ReactNode;
  children: ReactNode;
  className?: string;
}

export function Section({ title, note, tools, children, className = '' }: SectionProps) {
  return (
    <section className={`section ${className}`} aria-label={title}>
      <div className="section-head">
        <h2>{title}</h2>
        {note && <span className="note">{note}</span>}
        {tools && <span className="tools buttons no-print">{tools}</span>}
      </div>
      {children}
    </section>
  );
}

export const SHAPES = [
  <rect key="a" x="0.5" y="0.5" width="9" height="9" />,
  <circle key="b" cx="5" cy="5" r="4.8" />,
  <path key="c" d="M5 0 10 9.4H0z" />,
  <path key="d" d="M5 0 10 5 5 10 0 5z" />,
  <path key="e" d="M0 3.4h3.4V0h3.2v3.4H10v3.2H6.6V10H3.4V6.6H0z" />,
  <path key="f" d="M0 .6h10L5 10z" />,
];
export const SERIES = [
  'var(--side-a)',
  'var(--side-b)',
  'var(--series-3)',
  'var(--series-4)',
  'var(--series-5)',
  'var(--series-6)',
];
export const seriesColour = (index: number) => SERIES[index % SERIES.length] ?? 'var(--ink)';

/** Shape and colour of a side together: neither carries the meaning alone. */
export function Marker({ index }: { index: number }) {
  return (
    <svg className="marker" viewBox="0 0 10 10" fill={seriesColour(index)} aria-hidden="true">
      {SHAPES[index % SHAPES.length]}
    </svg>
  );
}

export function SideName({ index, name }: { index: number; name: string }) {
  return (
    <span className="side-name">
      <Marker index={index} />
      <bdi>{name}</bdi>
    </span>
  );
}

interface WideProps {
  label: string;
  height?: number;
  /** A table whose columns are compared with one another stays one on a narrow screen, and scrolls. */
  isGrid?: boolean;
  children: ReactNode;
}

/**
 * What may be wider than the page scrolls by itself, with the keyboard too; a group, because landmarks are for sections.
 * On a narrow screen each row of a table in it is a block, and each cell stands beside its column's name.
 */
export function Wide({ label, height, isGrid = false, children }: WideProps) {
  const frame = useRef<HTMLDivElement>(null);
  // After each change: rows come and go.
  useLayoutEffect(() => {
    if (!isGrid) for (const table of frame.current?.querySelectorAll('table') ?? []) nameCells(table);
  });
  const style = height === undefined ? undefined : { maxHeight: height, overflowY: 'auto' as const };
  return (
    <div
      ref={frame}
      className={isGrid ? 'wide' : 'wide rows'}
      tabIndex={0}
      role="group"
      aria-label={label}
      style={style}
    >
      {children}
    </div>
  );
}

/** Tells each cell the name of its column, which the style sheet shows where the table has no columns. */
function nameCells(table: Element): void {
  // A name that is only there for who listens is not shown beside a cell either.
  const names = [...table.querySelectorAll('thead tr:first-child > *')].map((cell) =>
    cell.querySelector('.hidden') === null ? cell.textContent : '',
  );
  for (const row of table.querySelectorAll('tbody > tr')) {
    let column = 0;
    for (const cell of row.children) {
      const width = Number(cell.getAttribute('colspan') ?? 1);
      cell.setAttribute('data-column', width > 1 ? '' : (names[column] ?? ''));
      column += width;
    }
  }
}

export function Tag({ children }: { children: ReactNode }) {
  return <span className="tag">{children}</span>;
}

interface EmptyProps {
  title: string;
  isPage?: boolean;
  children?: ReactNode;
}

export function Empty({ title, isPage = false, children }: EmptyProps) {
  return (
    <div className="state">
      {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children}
    </div>
  );
}

export function Loading({ lines = 5 }: { lines?: number }) {
  return (
    <div role="status" aria-label={t('state.loading')}>
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} className="skeleton" style={{ width: `${90 - ((index * 17) % 45)}%` }} />
      ))}
    </div>
  );
}

/** Why there is nothing to see, in the server's own words, and what to do. */
export function Failure({ error, retry, isPage = false }: { error: Error; retry?: () => void; isPage?: boolean }) {
  const status = error instanceof ProblemError ? error.status : null;
  const title =
    status === 0
      ? t('state.unreachable')
      : status === 404
        ? t('state.unknown')
        : status === 403
          ? t('state.forbidden')
          : t('state.failed');
  return (
    <div className="state failing" role="alert">
      {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
      <p className="foreign">{status === 0 ? t('state.unreachable.hint') : error.message}</p>
      <div className="buttons">
        {retry && <Button onClick={retry}>{t('action.retry')}</Button>}
        {status === 404 && (
          <Link className="button" to="/runs">
            {t('nav.runs')}
          </Link>
        )}
      </div>
    </div>
  );
}

interface QueryLike<Data> {
  data: Data | undefined;
  error: Error | null;
  refetch: () => unknown;
}

/** What was loaded, or why not; data that could not be renewed stays, dimmed. */
export function Loaded<Data>({
  query,
  children,
  lines,
  isPage = false,
}: {
  query: QueryLike<Data>;
  children: (data: Data) => ReactNode;
  lines?: number;
  isPage?: boolean;
}) {
  if (query.data === undefined) {
    if (query.error) return <Failure error={query.error} retry={() => void query.refetch()} isPage={isPage} />;
    return <Loading {...(lines === undefined ? {} : { lines })} />;
  }
  return (
    <>
      {query.error && <StaleNotice error={query.error} retry={() => void query.refetch()} />}
      <div className={query.error ? 'stale' : undefined}>{children(query.data)}</div>
    </>
  );
}

function StaleNotice({ error, retry }: { error: Error; retry: () => void }) {
  return (
    <div className="notice" role="status">
      {t('state.stale')} {error.message}{' '}
      <Button kind="quiet" onClick={retry}>
        {t('action.retry')}
      </Button>
    </div>
  );
}
