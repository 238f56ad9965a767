import { useState } from 'react';
import { Dialog } from '@/components/Dialog';
import { t } from '@/text/text';
import { useActiveKeys } from './keys';

/** The keys that work on the screen underneath. */
export function KeysDialog({ close }: { close: () => void }) {
  const now = useActiveKeys();
  const [bindings] = useState(() => [...now].reverse().flat());
  return (
    <Dialog title={t('keys.title')} close={close}>
      <h2>{t('keys.title')}</h2>
      <dl className="keys-list">
        <dt>
          <kbd>⌘K</kbd> <kbd>Ctrl K</kbd>
        </dt>
        <dd>{t('keys.search')}</dd>
        {bindings.map(({ key, label }) => (
          <div key={key + label} style={{ display: 'contents' }}>
            <dt>
              <kbd>{KEY_NAMES[key] ?? key}</kbd>
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

const KEY_NAMES: Readonly<Record<string, string>> = { Enter: '↵', ArrowLeft: '←', ArrowRight: '→', Escape: 'Esc' };
