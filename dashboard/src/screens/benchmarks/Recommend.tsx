/** Benchmarks that fit a need said in words, with why, and what none covers. */
import { useState, type FormEvent } from 'react';
import type { Recommendations } from '@/api/documents';
import { useRecommendations } from '@/api/queries';
import { Button, Section } from '@/components/Basics';
import { Field } from '@/components/Fields';
import { countText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { path } from '@/router/location';
import { t } from '@/text/text';

export function Recommend() {
  const [need, setNeed] = useState('');
  const [asked, setAsked] = useState<string | null>(null);
  const found = useRecommendations(asked);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setAsked(need.trim());
  };
  return (
    <Section title={t('recommend.title')} note={t('recommend.note')}>
      <form className="filters" onSubmit={submit}>
        <Field label={t('recommend.need')}>
          <input
            className="input"
            required
            maxLength={4000}
            placeholder={t('recommend.example')}
            value={need}
            onChange={(event) => setNeed(event.target.value)}
          />
        </Field>
        <Button type="submit" disabled={need.trim() === ''}>
          {t('recommend.ask')}
        </Button>
      </form>
      {found.error && (
        <p className="mark-wrong" role="alert">
          {found.error.message}
        </p>
      )}
      {found.data && <Fitting found={found.data} />}
    </Section>
  );
}

function Fitting({ found }: { found: Recommendations }) {
  return (
    <ul className="plain-list small" aria-live="polite">
      {found.benchmarks.map((one) => (
        <li key={one.benchmark}>
          <Link to={path`/benchmarks/${one.benchmark}`}>{one.benchmark}</Link>: {one.why.join('; ')}
          {one.samples !== null && <span className="muted"> n={countText(one.samples)}</span>}
        </li>
      ))}
      {found.uncovered.map((sentence) => (
        <li key={sentence} className="mark-invalid">
          {sentence}
        </li>
      ))}
      {found.not_understood.map((words) => (
        <li key={words} className="muted">
          {t('words.not-understood')} “{words}”
        </li>
      ))}
    </ul>
  );
}
