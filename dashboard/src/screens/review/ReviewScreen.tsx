/** People mark answers one by one: one big answer, two buttons, and what their marks say of the scorers. */
import { QUEUES, useQueue, type QueueName } from '@/api/review';
import { Empty, Loaded, PageHead } from '@/components/Basics';
import { Field, Select } from '@/components/Fields';
import { countText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { navigate, path, useParameters } from '@/router/location';
import { t } from '@/text/text';
import { Agreement } from './Agreement';
import { ChooseQueue } from './ChooseQueue';
import { reviewLink } from './link';
import { Marking } from './Marking';
import './review.css';

const SIZES = ['20', '50', '100', '200', '500', '1000'];

const isQueue = (name: string | undefined): name is QueueName => QUEUES.some((one) => one === name);

export default function ReviewScreen({ parameters: { queue } }: { parameters: Readonly<Record<string, string>> }) {
  const [parameters] = useParameters();
  const run = parameters.get('run');
  if (run === null) return <ChooseQueue queue={isQueue(queue) ? queue : 'random'} />;
  return <Reviewed key={run} run={run} queue={isQueue(queue) ? queue : 'random'} />;
}

function Reviewed({ run, queue }: { run: string; queue: QueueName }) {
  const [parameters, change] = useParameters();
  const model = parameters.get('model');
  const benchmark = parameters.get('benchmark');
  const limit = parameters.get('n') ?? '100';
  const found = useQueue(run, { queue, model, benchmark, limit });
  return (
    <>
      <Loaded isPage query={found}>
        {(review) =>
          review.items.length === 0 ? (
            <>
              <PageHead trail={<Trail run={run} />} title={t('review.empty')} lead={t(`review.queue.${queue}.what`)} />
              <Empty title={t('review.queue')}>
                <Link className="button" to={`/review?${new URLSearchParams({ choose: run }).toString()}`}>
                  {t('review.choose')}
                </Link>
              </Empty>
            </>
          ) : (
            <Marking
              key={`${queue} ${model} ${benchmark} ${limit}`}
              run={run}
              items={review.items}
              trail={<Trail run={run} />}
              lead={`${t(`review.queue.${queue}.what`)} ${t('review.of-queue', { n: countText(review.total) })}`}
            />
          )
        }
      </Loaded>
      <div className="filters">
        <Field label={t('review.queue')}>
          <Select
            value={queue}
            change={(next) => navigate(reviewLink(next, { run, model, benchmark, n: parameters.get('n') }))}
            options={QUEUES.map((one) => [one, t(`review.queue.${one}`)])}
          />
        </Field>
        <Field label={t('review.size')}>
          <Select
            value={limit}
            change={(n) => change({ n, at: null })}
            options={[...new Set([...SIZES, limit])].map((one) => [one, one])}
          />
        </Field>
      </div>
      <Agreement run={run} model={model} benchmark={benchmark} />
    </>
  );
}

function Trail({ run }: { run: string }) {
  return (
    <>
      <Link to="/review">{t('nav.review')}</Link> · <Link to={path`/runs/${run}`}>{run}</Link>
    </>
  );
}
