/** Which models are asked: a search over the catalogue, and those chosen. */
import { useEffect, useId, useState, type KeyboardEvent } from 'react';
import type { FoundModel } from '@/api/documents';
import { useKnownModels } from '@/api/playground';
import { SideName } from '@/components/Basics';
import { countText } from '@/numbers/text';
import { t } from '@/text/text';

const PAUSE_MS = 200;
const MAX_MODELS = 12;

interface Props {
  chosen: readonly string[];
  change: (models: readonly string[]) => void;
}

export function ModelChoice({ chosen, change }: Props) {
  return (
    <div className="arena-models">
      <ul aria-label={t('word.models')}>
        {chosen.map((model, index) => (
          <li key={`${index}${model}`}>
            <SideName index={index} name={model} />
            <button
              type="button"
              className="bare"
              aria-label={t('arena.remove', { name: model })}
              onClick={() => change(chosen.filter((_, place) => place !== index))}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      {chosen.length < MAX_MODELS && <ModelSearch add={(model) => change([...chosen, model])} />}
    </div>
  );
}

/** Asks the catalogue once typing pauses; a name that it does not have can be added as it is written. */
function ModelSearch({ add }: { add: (model: string) => void }) {
  const id = useId();
  const [typed, setTyped] = useState('');
  const [asked, setAsked] = useState('');
  const [at, setAt] = useState(0);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const found = useKnownModels(asked).data ?? [];
  const shown = isOpen ? found : [];
  const selected = Math.min(at, shown.length - 1);
  const choose = (model: string | undefined) => {
    if (model === undefined || model === '') return;
    add(model);
    setTyped('');
    setAt(0);
  };
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey) return;
    if (event.key === 'ArrowDown') {
      setOpen(true);
      setAt(Math.min(selected + 1, shown.length - 1));
    } else if (event.key === 'ArrowUp') setAt(Math.max(selected - 1, 0));
    else if (event.key === 'Escape') setOpen(false);
    else if (event.key === 'Enter')
      choose(typed.includes('?') ? typed.trim() : (shown[selected]?.model ?? typed.trim()));
    else return;
    event.preventDefault();
  };
  return (
    <div
      className="arena-search"
      onBlur={(event) => event.currentTarget.contains(event.relatedTarget) || setOpen(false)}
    >
      <input
        className="input"
        role="combobox"
        aria-expanded={shown.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={shown.length > 0 ? `${id}-${selected}` : undefined}
        aria-label={t('arena.add-model')}
        placeholder={t('arena.add-model')}
        value={typed}
        onFocus={() => setOpen(true)}
        onChange={(event) => {
          setTyped(event.target.value);
          setOpen(true);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <ul id={`${id}-list`} role="listbox" aria-label={t('arena.add-model')} hidden={shown.length === 0}>
        {shown.map((model, index) => (
          <li
            key={model.model}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === selected}
            onMouseMove={() => setAt(index)}
            onMouseDown={(event) => {
              event.preventDefault();
              choose(model.model);
            }}
          >
            <bdi>{model.model}</bdi>
            <span className="muted small">{factsOf(model)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Prices for a million tokens, the context window, what it takes; nothing is said where nothing is known. */
function factsOf(model: FoundModel): string {
  const { input_usd_per_million: input, output_usd_per_million: output, context_tokens: context } = model;
  const takes = [
    model.capabilities['images'] ? t('arena.images') : '',
    model.capabilities['documents'] ? t('arena.documents') : '',
    model.capabilities['tools'] ? t('arena.tools') : '',
  ].filter(Boolean);
  return [
    input !== null && output !== null ? t('arena.price', { input, output }) : '',
    context !== null ? t('arena.context', { n: countText(context) }) : '',
    ...takes,
    model.has_key === false ? t('arena.no-key') : '',
  ]
    .filter(Boolean)
    .join(' · ');
}
