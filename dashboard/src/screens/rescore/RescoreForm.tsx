/** Which scorers, by which judges, and whether their scores count. */
import { useState, type FormEvent } from 'react';
import type { RunDocument } from '@/api/documents';
import { useRescore } from '@/api/rescorings';
import { Button, Failure, Section } from '@/components/Basics';
import { Field, Select } from '@/components/Fields';
import { t } from '@/text/text';
import { FIRST_CHOICE, requestOf, type Choice } from './request';

export function RescoreForm({ run }: { run: RunDocument }) {
  const now = [...new Set(run.evaluations.flatMap((one) => Object.keys(one.scorers)))];
  const [choice, setChoice] = useState<Choice>({ ...FIRST_CHOICE, scorers: now.join('\n') });
  const rescore = useRescore(run.run_id);
  const body = requestOf(choice);
  const set = <Name extends keyof Choice>(name: Name, value: Choice[Name]) => setChoice({ ...choice, [name]: value });
  const lines = (name: 'scorers' | 'use' | 'judge', label: string) => (
    <Field label={label}>
      <textarea
        className="input"
        rows={3}
        spellCheck={false}
        value={choice[name]}
        onChange={(event) => set(name, event.target.value)}
      />
    </Field>
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (body) rescore.mutate(body);
  };
  return (
    <Section title={t('rescore.ask')} note={t('rescore.ask.note')}>
      <form className="rescore-form" onSubmit={submit}>
        <div className="rescore-fields">
          <Field label={t('rescore.how')}>
            <Select
              value={choice.how}
              change={(how) => set('how', how as Choice['how'])}
              options={(['score', 'use'] as const).map((how) => [how, t(`rescore.how.${how}`)] as const)}
            />
          </Field>
          <Field label={t('word.benchmark')}>
            <Select
              value={choice.on}
              change={(on) => set('on', on)}
              options={[
                ['', t('rescore.all')],
                ...[...new Set(run.evaluations.map((one) => one.benchmark))].map((one) => [one, one] as const),
              ]}
            />
          </Field>
          {choice.how === 'use' ? (
            lines('use', t('rescore.use'))
          ) : (
            <>
              {lines('scorers', t('rescore.scorers'))}
              {lines('judge', t('rescore.judges'))}
              <Field label={t('rescore.cost')}>
                <input
                  className="input"
                  type="number"
                  min={0}
                  step="any"
                  value={choice.cost}
                  onChange={(event) => set('cost', event.target.value)}
                />
              </Field>
              <Field label={t('rescore.price')}>
                <input
                  className="input"
                  maxLength={40}
                  value={choice.price}
                  onChange={(event) => set('price', event.target.value)}
                />
              </Field>
            </>
          )}
        </div>
        {choice.how === 'score' && (
          <label className="check">
            <input type="checkbox" checked={choice.isKept} onChange={(event) => set('isKept', event.target.checked)} />{' '}
            {t('rescore.keep')}
          </label>
        )}
        <div className="buttons">
          <Button kind="main" type="submit" disabled={body === null || rescore.isPending}>
            {t('rescore.do')}
          </Button>
        </div>
      </form>
      {rescore.error && <Failure error={rescore.error} />}
    </Section>
  );
}
