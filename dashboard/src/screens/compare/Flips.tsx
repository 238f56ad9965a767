/** The samples that only one side got right: a list, and the two answers with the words that differ. */
import { useEffect, useRef } from 'react';
import type { Comparison, FlippedSample } from '@/api/documents';
import { useKeys } from '@/app/keys';
import { Button, Empty, Marker, Section, SideName, Tag } from '@/components/Basics';
import { Foreign } from '@/components/Foreign';
import { DifferingText, useWordParts } from '@/components/WordDifference';
import { countText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { useParameters } from '@/router/location';
import { samplesLink } from '@/screens/samples/link';
import { t } from '@/text/text';

type Direction = 'worse' | 'better';

export function Flips({ comparison }: { comparison: Comparison }) {
  const [parameters, change] = useParameters();
  const { lost, gained } = comparison.flips;
  const asked = parameters.get('flips');
  const direction: Direction = asked === 'better' || (asked === null && lost.count === 0) ? 'better' : 'worse';
  const shown = direction === 'worse' ? lost : gained;
  const samples = byCategory(shown.samples);
  const index = Math.max(
    0,
    samples.findIndex((one) => one.sample_id === parameters.get('at')),
  );
  const isDiffering = parameters.get('diff') !== 'off';
  const go = (to: number) =>
    change({ at: samples[Math.min(Math.max(to, 0), samples.length - 1)]?.sample_id ?? null }, { replace: true });
  const choose = (next: Direction) => change({ flips: next, at: null }, { replace: true });
  const toggle = () => change({ diff: isDiffering ? 'off' : null }, { replace: true });
  useKeys([
    { key: 'n', label: t('flips.next'), run: () => go(index + 1) },
    { key: 'N', label: t('flips.previous'), run: () => go(index - 1) },
    { key: 'd', label: t('flips.difference'), run: toggle },
    { key: 'w', label: t('flips.worse'), run: () => choose('worse') },
    { key: 'b', label: t('flips.better'), run: () => choose('better') },
  ]);
  const total = lost.count + gained.count;
  const current = samples[index];
  const b = comparison.b.name;
  return (
    <Section
      title={t('flips.title')}
      note={t('flips.note', { n: countText(total) })}
      tools={
        <>
          <Button aria-pressed={direction === 'worse'} onClick={() => choose('worse')} shortcut="w">
            {t('flips.lost-by', { side: b })} {countText(lost.count)}
          </Button>
          <Button aria-pressed={direction === 'better'} onClick={() => choose('better')} shortcut="b">
            {t('flips.gained-by', { side: b })} {countText(gained.count)}
          </Button>
          <Button aria-pressed={isDiffering} onClick={toggle} shortcut="d">
            {t('flips.difference')}
          </Button>
        </>
      }
    >
      {current ? (
        <div className="flips">
          <FlipList samples={samples} at={index} direction={direction} go={go} />
          <FlipDetail comparison={comparison} sample={current} direction={direction} isDiffering={isDiffering} />
        </div>
      ) : (
        <Empty title={t('flips.none')} />
      )}
      {shown.samples.length < shown.count && (
        <p className="muted small">
          {t('list.first', { shown: countText(shown.samples.length), n: countText(shown.count) })}
        </p>
      )}
    </Section>
  );
}

const byCategory = (samples: readonly FlippedSample[]) =>
  [...samples].sort((one, other) => (one.category ?? '').localeCompare(other.category ?? ''));

interface FlipListProps {
  samples: readonly FlippedSample[];
  at: number;
  direction: Direction;
  go: (index: number) => void;
}

function FlipList({ samples, at, direction, go }: FlipListProps) {
  const current = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const [row, list] = [current.current, current.current?.closest('ol')];
    if (!row || !list) return;
    // Only the list moves, never the page: the verdict stays where it is.
    const [top, bottom] = [row.offsetTop - list.offsetTop, row.offsetTop - list.offsetTop + row.offsetHeight];
    if (top < list.scrollTop) list.scrollTop = top;
    else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
  }, [at]);
  return (
    <ol className="flip-list" aria-label={t('flips.title')} tabIndex={0}>
      {samples.map((sample, index) => (
        <li key={sample.sample_id}>
          <button
            type="button"
            ref={index === at ? current : null}
            aria-current={index === at ? 'true' : undefined}
            onClick={() => go(index)}
          >
            <Marker index={direction === 'worse' ? 0 : 1} />
            <span className="flip-text">
              <bdi>{sample.sample_id}</bdi>
              <span className="muted">{sample.input.slice(0, 120)}</span>
            </span>
            {sample.category !== null && <Tag>{sample.category}</Tag>}
          </button>
        </li>
      ))}
    </ol>
  );
}

interface FlipDetailProps {
  comparison: Comparison;
  sample: FlippedSample;
  direction: Direction;
  isDiffering: boolean;
}

function FlipDetail({ comparison, sample, direction, isDiffering }: FlipDetailProps) {
  const a = sample.a.responses[0] ?? '';
  const b = sample.b.responses[0] ?? '';
  const found = useWordParts(a, b);
  const parts = isDiffering ? found : { a: [{ text: a, differs: false }], b: [{ text: b, differs: false }] };
  const sides = [
    { side: comparison.a, answers: sample.a, parts: parts.a, isRight: direction === 'worse' },
    { side: comparison.b, answers: sample.b, parts: parts.b, isRight: direction === 'better' },
  ];
  return (
    <div className="flip-detail" aria-live="polite">
      <div className="flip-question">
        <Foreign text={sample.input} limit={4_000} />
        {sample.target !== null && (
          <p className="flip-target">
            <span className="muted">{t('word.target')}</span> <strong className="foreign">{sample.target}</strong>
          </p>
        )}
      </div>
      <div className="flip-sides">
        {sides.map(({ side, answers, parts: shown, isRight }, index) => (
          <div key={index}>
            <div className="flip-side-head">
              <strong>
                <SideName index={index} name={side.name} />
              </strong>
              <span className={isRight ? 'mark-right' : 'mark-wrong'}>
                {isRight ? t('mark.right') : t('mark.wrong')}
                {answers.answers[0] !== null && answers.answers[0] !== undefined && (
                  <span className="muted">
                    {' '}
                    · {t('mark.read')} <bdi>{answers.answers[0]}</bdi>
                  </span>
                )}
              </span>
            </div>
            <DifferingText parts={shown} isRight={isRight} />
            <p className="small muted">
              {answers.values.length > 1 &&
                `${t('flips.repeats', { right: answers.values.filter((one) => one === 1).length, n: answers.values.length })} · `}
              <Link
                to={samplesLink(side.run_id, {
                  model: side.model,
                  benchmark: comparison.benchmark,
                  at: sample.sample_id,
                })}
              >
                {t('flips.see-sample')}
              </Link>
            </p>
          </div>
        ))}
      </div>
    </div>
  );
}
