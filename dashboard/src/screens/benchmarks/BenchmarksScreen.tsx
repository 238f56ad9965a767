/** The benchmarks that can be run, and what they measure. */
import { lazy, Suspense } from 'react';
import type { ListedBenchmark } from '@/api/documents';
import { useBenchmarks } from '@/api/queries';
import { isSite } from '@/api/site';
import { Button, Empty, Loaded, Loading, PageHead, Tag, Wide } from '@/components/Basics';
import { Field, Search, Select } from '@/components/Fields';
import { Link } from '@/router/Link';
import { path, useParameters } from '@/router/location';
import { countText } from '@/numbers/text';
import { t } from '@/text/text';
import { Recommend } from './Recommend';
import './benchmarks.css';

const OwnBenchmarks = lazy(() => import('./OwnBenchmarks'));
const TAGS = ['subject', 'task', 'form', 'language'] as const;

export default function BenchmarksScreen() {
  const benchmarks = useBenchmarks();
  const [parameters, change] = useParameters();
  return (
    <>
      <PageHead
        trail={t('nav.benchmarks')}
        title={benchmarks.data ? t('benchmarks.title', { n: countText(benchmarks.data.length) }) : t('nav.benchmarks')}
        lead={t('benchmarks.lead')}
      />
      <Recommend />
      {!isSite && (
        <Suspense fallback={<Loading lines={2} />}>
          <OwnBenchmarks />
        </Suspense>
      )}
      <Loaded query={benchmarks}>
        {(all) => {
          const text = parameters.get('text') ?? '';
          const shown = all.filter((one) => isMatch(one, text, parameters));
          return (
            <>
              <div className="filters">
                <Search
                  label={t('benchmarks.search')}
                  value={text}
                  change={(next) => change({ text: next }, { replace: true })}
                />
                {TAGS.map((tag) => (
                  <Field key={tag} label={t(`tag.${tag}`)}>
                    <Select
                      value={parameters.get(tag) ?? ''}
                      change={(value) => change({ [tag]: value })}
                      options={[['', t('filter.any')], ...valuesOf(all, tag).map((one) => [one, one] as const)]}
                    />
                  </Field>
                ))}
              </div>
              {shown.length === 0 ? (
                <Empty title={t('benchmarks.none-match')}>
                  <Button onClick={() => change({ text: null, subject: null, task: null, form: null, language: null })}>
                    {t('filter.clear')}
                  </Button>
                </Empty>
              ) : (
                <List benchmarks={shown} />
              )}
            </>
          );
        }}
      </Loaded>
    </>
  );
}

const valuesOf = (all: readonly ListedBenchmark[], tag: string) =>
  [...new Set(all.flatMap((one) => one.tags[tag] ?? []))].sort();

function isMatch(one: ListedBenchmark, text: string, parameters: URLSearchParams): boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const all = `${one.name} ${one.description}`.toLowerCase();
  return (
    words.every((word) => all.includes(word)) &&
    TAGS.every((tag) => !parameters.get(tag) || one.tags[tag] === parameters.get(tag))
  );
}

function List({ benchmarks }: { benchmarks: readonly ListedBenchmark[] }) {
  return (
    <Wide label={t('nav.benchmarks')}>
      <table>
        <thead>
          <tr>
            <th>{t('word.benchmark')}</th>
            <th>{t('benchmarks.measures')}</th>
            <th>{t('word.scorers')}</th>
            <th>{t('benchmarks.tags')}</th>
          </tr>
        </thead>
        <tbody>
          {benchmarks.map((one) => (
            <tr key={one.name}>
              <td className="benchmark-name">
                <Link to={path`/benchmarks/${one.name}`}>{one.name}</Link> {one.is_own && <Tag>{t('own.tag')}</Tag>}
              </td>
              <td className="muted prose">{one.description}</td>
              <td>{one.scorers.join(', ')}</td>
              <td>
                <span className="benchmark-tags">
                  {[one.tags['subject'], one.tags['task']]
                    .filter((tag) => tag !== undefined)
                    .map((tag) => (
                      <Tag key={tag}>{tag}</Tag>
                    ))}
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}
