/** Before a run: how many samples a difference needs, or which difference so many samples can show. */
import { useState, type FormEvent } from 'react';
import { usePower } from '@/api/power';
import { Button, Loaded, PageHead } from '@/components/Basics';
import { Field } from '@/components/Fields';
import { useParameters } from '@/router/location';
import { t } from '@/text/text';
import { powerSentence } from './sentence';
import './power.css';

const FIELDS = ['difference', 'samples', 'accuracy', 'discordance', 'correlation', 'power', 'alpha'] as const;
const FIRST: Readonly<Record<string, string>> = { difference: '0.02', correlation: '0', power: '0.8', alpha: '0.05' };
/** With a run the share of samples on which its models differ is measured. */
const MEASURED: readonly string[] = ['accuracy', 'discordance', 'correlation'];

export default function PowerScreen() {
  const [parameters, change] = useParameters();
  const run = parameters.get('run');
  const fields = FIELDS.filter((name) => run === null || !MEASURED.includes(name));
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(fields.map((name) => [name, parameters.get(name) ?? FIRST[name] ?? ''])),
  );
  const query = usePower({
    ...Object.fromEntries(fields.map((name) => [name, parameters.get(name)])),
    run,
    on: parameters.get('on'),
    model: parameters.getAll('model'),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change(typed, { replace: true });
  };
  return (
    <>
      <PageHead
        trail={t('power.title')}
        title={query.data ? powerSentence(query.data) : t('power.title')}
        {...(run === null ? {} : { lead: t('power.of-run', { run }) })}
      />
      <form className="power-form" onSubmit={submit}>
        {fields.map((name) => (
          <Field key={name} label={t(`power.${name}`)}>
            <input
              className="input"
              type="number"
              step={name === 'samples' ? 1 : 'any'}
              value={typed[name] ?? ''}
              onChange={(event) => setTyped({ ...typed, [name]: event.target.value })}
            />
          </Field>
        ))}
        <div className="buttons">
          <Button kind="main" type="submit">
            {t('power.compute')}
          </Button>
        </div>
      </form>
      <Loaded query={query} lines={1}>
        {() => null}
      </Loaded>
    </>
  );
}
