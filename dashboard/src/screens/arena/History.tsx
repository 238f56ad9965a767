/** Turns of a conversation before the prompt: said by the person or by a model, changed or taken away. */
import { Button } from '@/components/Basics';
import { Select } from '@/components/Fields';
import { t } from '@/text/text';
import type { Turn } from './request';

interface Props {
  turns: readonly Turn[];
  change: (turns: readonly Turn[]) => void;
}

export function History({ turns, change }: Props) {
  const set = (place: number, turn: Partial<Turn>) =>
    change(turns.map((one, index) => (index === place ? { ...one, ...turn } : one)));
  const roles = [
    ['user', t('arena.role.user')],
    ['assistant', t('arena.role.assistant')],
  ] as const;
  const next = turns.at(-1)?.role === 'user' ? 'assistant' : 'user';
  return (
    <fieldset className="arena-history">
      <legend className="muted small">{t('arena.history')}</legend>
      {turns.map((turn, place) => (
        <div key={place} className="arena-turn-before">
          <label>
            <span className="hidden">{t('arena.role', { n: place + 1 })}</span>
            <Select
              value={turn.role}
              change={(role) => set(place, { role: role === 'assistant' ? 'assistant' : 'user' })}
              options={roles}
            />
          </label>
          <label>
            <span className="hidden">{t('arena.turn', { n: place + 1 })}</span>
            <textarea
              className="input"
              rows={2}
              dir="auto"
              value={turn.text}
              onChange={(event) => set(place, { text: event.target.value })}
            />
          </label>
          <Button
            kind="quiet"
            aria-label={t('arena.remove-turn', { n: place + 1 })}
            onClick={() => change(turns.filter((_, index) => index !== place))}
          >
            ×
          </Button>
        </div>
      ))}
      <Button onClick={() => change([...turns, { role: next, text: '' }])}>{t('arena.add-turn')}</Button>
    </fieldset>
  );
}
