/** ⌘K: go anywhere by typing part of its name. */
import { useMemo, useState, type KeyboardEvent } from 'react';
import { useBenchmarks, useRuns } from '@/api/queries';
import { isSite } from '@/api/site';
import { Dialog } from '@/components/Dialog';
import { Link } from '@/router/Link';
import { navigate, path } from '@/router/location';
import { t } from '@/text/text';
import { PLACES } from './routes';

interface Target {
  to: string;
  label: string;
  note: string;
}

const MAX_ENTRIES = 12;

function useTargets(text: string): Target[] {
  const runs = useRuns({}, 50);
  const benchmarks = useBenchmarks();
  const all = useMemo((): Target[] => {
    const places = isSite ? PLACES : [...PLACES, { to: '/settings', label: 'nav.settings' } as const];
    return [
      ...places.map(({ to, label }) => ({ to, label: t(label), note: '' })),
      ...(runs.data?.pages.flatMap((page) => page.items) ?? []).map((run) => ({
        to: path`/runs/${run.run_id}`,
        label: run.name ?? `${run.models.join(', ')} · ${run.benchmarks.join(', ')}`,
        note: `${t('word.run')} ${run.run_id}`,
      })),
      ...(benchmarks.data ?? []).map((one) => ({
        to: path`/benchmarks/${one.name}`,
        label: one.name,
        note: t('word.benchmark'),
      })),
    ];
  }, [runs.data, benchmarks.data]);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return all
    .filter((one) => words.every((word) => `${one.label} ${one.note}`.toLowerCase().includes(word)))
    .slice(0, MAX_ENTRIES);
}

export function Palette({ close }: { close: () => void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const targets = useTargets(text);
  const selected = Math.min(at, targets.length - 1);
  const go = (target: Target | undefined) => {
    if (!target) return;
    close();
    navigate(target.to);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt(Math.min(selected + 1, targets.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(selected - 1, 0));
    else if (event.key === 'Enter') go(targets[selected]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={t('keys.search')} close={close}>
      <div className="palette">
        <input
          autoFocus
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={targets.length > 0 ? `palette-${selected}` : undefined}
          aria-label={t('keys.search')}
          placeholder={t('palette.placeholder')}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={press}
        />
        <ul id="palette-list" role="listbox" aria-label={t('keys.search')}>
          {targets.map((target, index) => (
            <li
              key={target.to}
              id={`palette-${index}`}
              role="option"
              aria-selected={index === selected}
              onMouseMove={() => setAt(index)}
            >
              <Link to={target.to} tabIndex={-1} onClick={close}>
                <bdi>{target.label}</bdi>
                <span className="muted">{target.note}</span>
              </Link>
            </li>
          ))}
        </ul>
        {targets.length === 0 && <p className="muted">{t('palette.nothing')}</p>}
      </div>
    </Dialog>
  );
}
