/** The project's own benchmarks, version by version: what each holds, its files, and whether it is offered. */
import { useState } from 'react';
import type { OwnBenchmark } from '@/api/documents';
import {
  fileAddress,
  useArchiveBenchmark,
  useDeleteBenchmark,
  useOwnBenchmarks,
  useRestoreBenchmark,
} from '@/api/ownBenchmarks';
import { useMay } from '@/api/session';
import { Button, Failure, Loaded, Section, Tag, Wide } from '@/components/Basics';
import { Count } from '@/components/Figures';
import { Ago } from '@/components/Ago';
import { Link } from '@/router/Link';
import { path } from '@/router/location';
import { t } from '@/text/text';
import { UploadBenchmark } from './UploadBenchmark';

export default function OwnBenchmarks() {
  const mayWrite = useMay('benchmark:write');
  const mayRun = useMay('run:write');
  const [hasArchived, setArchived] = useState(false);
  const found = useOwnBenchmarks(hasArchived);
  const remove = useDeleteBenchmark();
  return (
    <Section
      title={t('own.title')}
      note={t('own.note')}
      tools={
        <label className="check">
          <input type="checkbox" checked={hasArchived} onChange={(event) => setArchived(event.target.checked)} />{' '}
          {t('own.show-archived')}
        </label>
      }
    >
      <Loaded query={found} lines={2}>
        {(data) => {
          const versions = data.pages.flatMap((page) => page.items);
          return versions.length === 0 ? (
            <p className="muted">{t('own.none')}</p>
          ) : (
            <Versions versions={versions} mayWrite={mayWrite} remove={remove} />
          );
        }}
      </Loaded>
      {found.hasNextPage && <Button onClick={() => void found.fetchNextPage()}>{t('own.older')}</Button>}
      <Deleted remove={remove} />
      {mayWrite && <UploadBenchmark />}
      {mayWrite && mayRun && (
        <p className="draft-link">
          <Link className="button" to="/benchmark-draft">
            {t('draft.title')}
          </Link>
        </p>
      )}
    </Section>
  );
}

type Removal = ReturnType<typeof useDeleteBenchmark>;

/** What was deleted can be taken back until the page is left. */
function Deleted({ remove }: { remove: Removal }) {
  const restore = useRestoreBenchmark(() => remove.reset());
  const failed = remove.error ?? restore.error;
  return (
    <>
      {remove.data && (
        <p role="status" className="list-more">
          {t('plan.deleted', { name: remove.data.one.reference })}{' '}
          <Button disabled={restore.isPending} onClick={() => restore.mutate(remove.data)}>
            {t('plan.undo')}
          </Button>
        </p>
      )}
      {failed && <Failure error={failed} />}
    </>
  );
}

interface VersionsProps {
  versions: readonly OwnBenchmark[];
  mayWrite: boolean;
  remove: Removal;
}

function Versions({ versions, mayWrite, remove }: VersionsProps) {
  const archive = useArchiveBenchmark();
  return (
    <>
      <Wide label={t('own.title')}>
        <table>
          <thead>
            <tr>
              <th>{t('word.benchmark')}</th>
              <th className="number">{t('word.samples')}</th>
              <th>{t('own.files')}</th>
              <th>{t('own.by')}</th>
              <th>{t('own.uploaded')}</th>
              {mayWrite && (
                <th>
                  <span className="hidden">{t('own.archive')}</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {versions.map((one) => (
              <tr key={one.benchmark_id}>
                <td>
                  <Link to={path`/benchmarks/${one.reference}`}>
                    <bdi>{one.reference}</bdi>
                  </Link>{' '}
                  {one.archived_at !== null && <Tag>{t('own.archived')}</Tag>}
                </td>
                <td className="number">
                  <Count value={one.description.samples} reason={one.description.no_data ?? t('reason.not-said')} />
                </td>
                <td className="small">
                  <Files of={one} />
                </td>
                <td>
                  <bdi>{one.author}</bdi>
                </td>
                <td>
                  <Ago when={one.created_at} />
                </td>
                {mayWrite && (
                  <td className="number own-actions">
                    <Button
                      disabled={archive.isPending}
                      aria-label={`${one.archived_at === null ? t('own.archive') : t('own.offer-again')} ${one.reference}`}
                      onClick={() => archive.mutate({ one, isArchived: one.archived_at === null })}
                    >
                      {one.archived_at === null ? t('own.archive') : t('own.offer-again')}
                    </Button>{' '}
                    <Button
                      kind="quiet"
                      disabled={remove.isPending}
                      aria-label={t('plan.delete', { name: one.reference })}
                      onClick={() => remove.mutate(one)}
                    >
                      {t('settings.remove')}
                    </Button>
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
      {archive.error && <Failure error={archive.error} />}
    </>
  );
}

const FILES_AT_ONCE = 5;

/** A new version begins with the files of the last one. */
function Files({ of }: { of: OwnBenchmark }) {
  const files = of.files.slice(0, FILES_AT_ONCE);
  return (
    <>
      {files.map((file, index) => (
        <span key={file}>
          {index > 0 && ', '}
          <a href={fileAddress(of, file)} download>
            <bdi>{file}</bdi>
          </a>
        </span>
      ))}
      {of.files.length > FILES_AT_ONCE && (
        <span className="muted"> {t('own.more-files', { n: of.files.length - FILES_AT_ONCE })}</span>
      )}
    </>
  );
}
