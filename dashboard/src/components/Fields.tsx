/** What one types and chooses. */
import { useEffect, useState, type ReactNode } from 'react';

export function Field({ label, children }: { label: string; children: ReactNode }) {
  return (
    <label className="field">
      <span>{label}</span>
      {children}
    </label>
  );
}

interface SelectProps {
  value: string;
  change: (value: string) => void;
  options: readonly (readonly [string, string])[];
}

export function Select({ value, change, options }: SelectProps) {
  return (
    <select className="input" value={value} onChange={(event) => change(event.target.value)}>
      {options.map(([name, label]) => (
        <option key={name} value={name}>
          {label}
        </option>
      ))}
    </select>
  );
}

const PAUSE_MS = 250;

interface SearchProps {
  label: string;
  value: string;
  change: (value: string) => void;
}

/** A search box that asks once typing pauses. */
export function Search({ label, value, change }: SearchProps) {
  const [typed, setTyped] = useState<string | null>(null);
  useEffect(() => {
    if (typed === null) return;
    const timer = setTimeout(() => {
      change(typed);
      setTyped(null);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed, change]);
  return (
    <Field label={label}>
      <input
        className="input"
        type="search"
        value={typed ?? value}
        onChange={(event) => setTyped(event.target.value)}
      />
    </Field>
  );
}
