/** Two runs to compare, or two models of one run. */
import { useState } from 'react';
import type { ListedRun } from '@/api/documents';
import { useRuns } from '@/api/queries';
import { Button, Empty, Loaded, PageHead } from '@/components/Basics';
import { Field, Select } from '@/components/Fields';
import { Link } from '@/router/Link';
import { navigate } from '@/router/location';
import { t } from '@/text/text';

export function ChooseSides() {
  const runs = useRuns({ status: 'completed' }, 50);
  return (
    <>
      <PageHead trail={t('nav.compare')} title={t('compare.choose')} lead={t('compare.choose.lead')} />
      <Loaded query={runs}>
        {(data) => {
          const items = data.pages.flatMap((page) => page.items);
          if (items.length > 0) return <Choice runs={items} />;
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

function Choice({ runs }: { runs: readonly ListedRun[] }) {
  const sides = runs.flatMap((run) =>
    run.models.map(
      (model) =>
        [`${run.run_id}:${model}`, `${model} · ${run.benchmarks.join(', ')} · ${run.name ?? run.run_id}`] as const,
    ),
  );
  const [a, setA] = useState(sides[0]?.[0] ?? '');
  const [b, setB] = useState(sides[1]?.[0] ?? '');
  const go = () => navigate(`/compare?${new URLSearchParams({ a, b }).toString()}`);
  return (
    <form
      className="filters"
      onSubmit={(event) => {
        event.preventDefault();
        go();
      }}
    >
      <Field label={t('compare.side-a')}>
        <Select value={a} change={setA} options={sides} />
      </Field>
      <Field label={t('compare.side-b')}>
        <Select value={b} change={setB} options={sides} />
      </Field>
      <Button kind="main" type="submit" disabled={a === b || !b}>
        {t('action.compare')}
      </Button>
    </form>
  );
}
