/** Around every screen: where one can go, whether the server answers, and the keys. */
import { Suspense, useEffect, useRef, useState } from 'react';
import { isGoing, useRuns } from '@/api/queries';
import { useMay } from '@/api/session';
import { isSite } from '@/api/site';
import { useProjectEvents } from '@/api/useProjectEvents';
import { Empty, Loading } from '@/components/Basics';
import { Link } from '@/router/Link';
import { usePath } from '@/router/location';
import { t, useLanguage } from '@/text/text';
import { Boundary } from './Boundary';
import { Deletions } from './Deletions';
import { KeysDialog } from './KeysDialog';
import { handleKey, useKeys } from './keys';
import { Palette } from './Palette';
import { Person } from './Person';
import { PLACES, routeOf } from './routes';
import { ServerState } from './ServerState';
import { SiteMade } from './SiteMade';
import './shell.css';

export function Shell() {
  const language = useLanguage();
  const pathname = usePath();
  const [isSearching, setSearching] = useState(false);
  const [isListingKeys, setListingKeys] = useState(false);
  useProjectEvents();

  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        setSearching(true);
      } else handleKey(event);
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
  useKeys([
    { key: '?', label: t('keys.list'), run: () => setListingKeys(true) },
    { key: '/', label: t('keys.search'), run: () => setSearching(true) },
  ]);

  return (
    <div className="shell" key={language}>
      <a className="skip" href="#main">
        {t('nav.skip')}
      </a>
      <Navigation pathname={pathname} search={() => setSearching(true)} keys={() => setListingKeys(true)} />
      <main id="main" tabIndex={-1}>
        <Deletions />
        <Boundary key={pathname}>
          <Suspense fallback={<Loading />}>
            <CurrentScreen pathname={pathname} />
          </Suspense>
        </Boundary>
      </main>
      {isSearching && <Palette close={() => setSearching(false)} />}
      {isListingKeys && <KeysDialog close={() => setListingKeys(false)} />}
    </div>
  );
}

function CurrentScreen({ pathname }: { pathname: string }) {
  const found = routeOf(pathname);
  const title = found ? t(found.route.title) : t('state.unknown-page');
  useEffect(() => {
    document.title = `${title} · Proctor`;
  }, [title]);
  if (!found) {
    return (
      <Empty isPage title={t('state.unknown-page')}>
        <Link to="/">{t('nav.home')}</Link>
      </Empty>
    );
  }
  const Screen = found.route.screen;
  return <Screen parameters={found.parameters} />;
}

interface NavigationProps {
  pathname: string;
  search: () => void;
  keys: () => void;
}

function Navigation({ pathname, search, keys }: NavigationProps) {
  const mayRun = useMay('run:write');
  const going = useGoing();
  const places = useRef<HTMLUListElement>(null);
  useEffect(() => {
    // On a narrow screen the places scroll sideways: the current one is in sight.
    const current = places.current?.querySelector<HTMLElement>('[aria-current]');
    if (places.current && current) places.current.scrollLeft = current.offsetLeft - places.current.offsetLeft - 40;
  }, [pathname, mayRun, going]);
  const here = (to: string) => (to === '/' ? pathname === '/' : pathname === to || pathname.startsWith(`${to}/`));
  return (
    <nav className="navigation no-print" aria-label={t('nav.label')}>
      <Link to="/" className="brand">
        <svg viewBox="0 0 32 32" width="20" height="20" aria-hidden="true">
          <path
            d="M5 25 16 6l11 19"
            fill="none"
            stroke="currentColor"
            strokeWidth="3.4"
            strokeLinejoin="round"
            strokeLinecap="round"
          />
          <path d="M15 25h12" stroke="var(--side-b)" strokeWidth="3.4" strokeLinecap="round" />
        </svg>
        Proctor
      </Link>
      <ul ref={places}>
        {PLACES.filter(({ needs }) => !needs || mayRun).map(({ to, label }) => (
          <li key={to}>
            <Link to={to} aria-current={here(to) ? 'page' : undefined}>
              {t(label)}
              {to === '/runs' && going > 0 && <span className="muted small">{t('nav.live', { n: going })}</span>}
            </Link>
          </li>
        ))}
      </ul>
      <div className="foot">
        {isSite ? (
          <SiteMade />
        ) : (
          <>
            <ServerState />
            <Person />
            <Link to="/settings" aria-current={here('/settings') ? 'page' : undefined}>
              {t('nav.settings')}
            </Link>
          </>
        )}
        <span className="buttons">
          <button type="button" className="bare" onClick={search}>
            <kbd>⌘K</kbd> {t('nav.search')}
          </button>
          <button type="button" className="bare" onClick={keys}>
            <kbd>?</kbd> {t('nav.keys')}
          </button>
        </span>
      </div>
    </nav>
  );
}

/** How many of the newest runs are being executed. */
function useGoing(): number {
  return (
    useRuns({}, 50)
      .data?.pages.flatMap((page) => page.items)
      .filter(isGoing).length ?? 0
  );
}
