/** A run and a queue of its answers. */
import { useState } from 'react';
import type { ListedRun } from '@/api/documents';
import { useRuns } from '@/api/queries';
import { QUEUES, type QueueName } from '@/api/review';
import { Button, Empty, Loaded, PageHead } from '@/components/Basics';
import { Field, Select } from '@/components/Fields';
import { Link } from '@/router/Link';
import { navigate, useParameters } from '@/router/location';
import { t } from '@/text/text';
import { reviewLink } from './link';

export function ChooseQueue({ queue }: { queue: QueueName }) {
  const runs = useRuns({}, 50);
  return (
    <>
      <PageHead trail={t('nav.review')} title={t('review.choose')} lead={t('review.choose.lead')} />
      <Loaded query={runs}>
        {(data) => {
          const items = data.pages.flatMap((page) => page.items).filter((run) => run.status !== 'queued');
          if (items.length > 0) return <Choice runs={items} first={queue} />;
          return (
            <Empty title={t('runs.none')}>
              <Link className="button" to="/">
                {t('home.demo')}
              </Link>
            </Empty>
          );
        }}
      </Loaded>
    </>
  );
}

function Choice({ runs, first }: { runs: readonly ListedRun[]; first: QueueName }) {
  const [parameters] = useParameters();
  const wanted = parameters.get('choose');
  const [id, setId] = useState((runs.find((run) => run.run_id === wanted) ?? runs[0])?.run_id ?? '');
  const run = runs.find((one) => one.run_id === id);
  const models = run?.models ?? [];
  const [model, setModel] = useState('');
  const [queue, setQueue] = useState<string>(first);
  return (
    <form
      className="review-choice"
      onSubmit={(event) => {
        event.preventDefault();
        navigate(reviewLink(queue, { run: id, model: models.includes(model) ? model : null }));
      }}
    >
      <div className="filters">
        <Field label={t('word.run')}>
          <Select
            value={id}
            change={setId}
            options={runs.map((one) => [
              one.run_id,
              `${one.name ?? one.models.slice(0, 3).join(', ')} · ${one.benchmarks.slice(0, 3).join(', ')} · ${one.run_id}`,
            ])}
          />
        </Field>
        <Field label={t('word.model')}>
          <Select
            value={models.includes(model) ? model : ''}
            change={setModel}
            options={[['', t('filter.all')], ...models.map((one) => [one, one] as const)]}
          />
        </Field>
      </div>
      <fieldset className="queues">
        <legend className="muted small">{t('review.queue')}</legend>
        {QUEUES.map((one) => (
          <label key={one}>
            <input type="radio" name="queue" checked={queue === one} onChange={() => setQueue(one)} />
            <span>
              <strong>{t(`review.queue.${one}`)}</strong> <span className="muted">{t(`review.queue.${one}.what`)}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <Button kind="main" type="submit">
        {t('review.open')}
      </Button>
    </form>
  );
}
