/** A benchmark file with its data: checked as the command line does, then kept as a version. */
import { useEffect, useRef, useState, type ChangeEvent } from 'react';
import type { BenchmarkDescription } from '@/api/documents';
import { ProblemError } from '@/api/http';
import { useCheckBenchmark, useUploadBenchmark, type ChosenFile } from '@/api/ownBenchmarks';
import { Button } from '@/components/Basics';
import { VisibleText } from '@/components/Foreign';
import { bytesText, countText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { path } from '@/router/location';
import { plural, t } from '@/text/text';

/** The path below the folder that was chosen; the name where files were. */
const nameOf = (file: File) => file.webkitRelativePath.split('/').slice(1).join('/') || file.name;

export function UploadBenchmark() {
  const [files, setFiles] = useState<readonly ChosenFile[]>([]);
  const check = useCheckBenchmark();
  const upload = useUploadBenchmark();
  const isBusy = check.isPending || upload.isPending;
  const choose = (event: ChangeEvent<HTMLInputElement>) => {
    setFiles([...(event.target.files ?? [])].map((file) => ({ name: nameOf(file), file })));
    check.reset();
    upload.reset();
    event.target.value = '';
  };
  const error = upload.error ?? check.error;
  return (
    <div className="upload-benchmark">
      <h3>{t('own.upload.title')}</h3>
      <p className="muted small">{t('own.upload.note')}</p>
      <div className="buttons">
        <Chooser label={t('own.choose-files')} choose={choose} disabled={isBusy} />
        <Chooser label={t('own.choose-folder')} choose={choose} disabled={isBusy} isFolder />
      </div>
      {files.length > 0 && (
        <>
          <p className="small">
            {plural('own.chosen', files.length)}:{' '}
            <bdi>
              {files
                .slice(0, 10)
                .map((one) => one.name)
                .join(', ')}
              {files.length > 10 && ' …'}
            </bdi>{' '}
            <span className="muted">({bytesText(files.reduce((sum, one) => sum + one.file.size, 0))})</span>
          </p>
          <div className="buttons">
            <Button
              disabled={isBusy}
              onClick={() => {
                upload.reset();
                check.mutate(files);
              }}
            >
              {t('own.check')}
            </Button>
            <Button
              kind="main"
              disabled={isBusy}
              onClick={() => {
                check.reset();
                upload.mutate(files);
              }}
            >
              {t('own.upload')}
            </Button>
            {isBusy && <span className="muted">{t('own.reading')}</span>}
          </div>
        </>
      )}
      {error && <Faults error={error} />}
      {check.data && <Sound benchmark={check.data} />}
      {upload.data && (
        <p className="notice" role="status">
          {t('own.kept')}{' '}
          <Link to={path`/benchmarks/${upload.data.reference}`}>
            <bdi>{upload.data.reference}</bdi>
          </Link>
        </p>
      )}
    </div>
  );
}

interface ChooserProps {
  label: string;
  choose: (event: ChangeEvent<HTMLInputElement>) => void;
  disabled: boolean;
  isFolder?: boolean;
}

function Chooser({ label, choose, disabled, isFolder = false }: ChooserProps) {
  const input = useRef<HTMLInputElement>(null);
  // React has no name for what makes a browser choose a folder.
  useEffect(() => {
    if (isFolder) input.current?.setAttribute('webkitdirectory', '');
  }, [isFolder]);
  return (
    <>
      <Button disabled={disabled} onClick={() => input.current?.click()}>
        {label}
      </Button>
      <input ref={input} type="file" multiple hidden aria-label={label} onChange={choose} />
    </>
  );
}

/** The server's own sentences, as `proctor benchmarks check` writes them. */
function Faults({ error }: { error: Error }) {
  const more = error instanceof ProblemError ? error.errors.filter((one) => one.detail !== error.message) : [];
  return (
    <div className="notice" role="alert">
      <p className="mark-wrong foreign">
        <VisibleText text={error.message} />
      </p>
      {more.length > 0 && (
        <ul className="plain-list small">
          {more.map((one) => (
            <li key={`${one.pointer} ${one.detail}`} className="foreign">
              <code>{one.pointer}</code> <VisibleText text={one.detail} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Sound({ benchmark }: { benchmark: BenchmarkDescription }) {
  return (
    <div className="notice" role="status">
      <p>
        <bdi>
          {benchmark.name} {benchmark.version}
        </bdi>
        : {t('own.sound')} {benchmark.samples != null && `n=${countText(benchmark.samples)}`}
      </p>
      {(benchmark.warnings ?? []).map((warning) => (
        <p key={warning} className="mark-invalid small foreign">
          <VisibleText text={warning} />
        </p>
      ))}
    </div>
  );
}
