/** An answer of a model: as text, or as Markdown where somebody chose that and it can be read so. */
import { Component, lazy, Suspense, type ReactNode } from 'react';
import { Button } from '@/components/Basics';
import { Foreign } from '@/components/Foreign';
import { countText } from '@/numbers/text';
import { t, type TextKey } from '@/text/text';
import { ANSWER_FORMS, chooseAnswerForm, MAX_CHARACTERS, reasonForText, useAnswerForm } from './answerForm';
import './answers.css';

const MarkdownText = lazy(() => import('./MarkdownText'));

export function AnswerFormSwitch() {
  const form = useAnswerForm();
  return (
    <div className="answer-form no-print" role="group" aria-label={t('answer.form')}>
      {ANSWER_FORMS.map((one) => (
        <Button key={one} kind="quiet" aria-pressed={form === one} onClick={() => chooseAnswerForm(one)}>
          {t(`answer.${one}`)}
        </Button>
      ))}
    </div>
  );
}

interface AnswerProps {
  text: string;
  limit?: number;
  /** How many characters there are in all, where the text is the beginning of a longer one. */
  total?: number;
}

export function Answer({ text, limit = MAX_CHARACTERS, total = text.length }: AnswerProps) {
  const form = useAnswerForm();
  const plain = <Foreign text={text} limit={limit} total={total} />;
  if (form === 'text') return plain;
  const reason = reasonForText(text, total);
  const asText = (why: TextKey) => (
    <>
      <p className="muted small">{t(why, { n: countText(MAX_CHARACTERS) })}</p>
      {plain}
    </>
  );
  if (reason !== null) return asText(reason);
  return (
    <Unreadable key={text} instead={asText('answer.too-deep')}>
      <Suspense fallback={plain}>
        <MarkdownText text={text.slice(0, limit)} />
      </Suspense>
      {total > Math.min(limit, text.length) && (
        <p className="muted small">
          {t('text.cut', { shown: countText(Math.min(limit, text.length)), n: countText(total) })}
        </p>
      )}
    </Unreadable>
  );
}

/** What is nested deeper than can be read overflows the stack: the answer is shown as text then. */
class Unreadable extends Component<{ instead: ReactNode; children: ReactNode }, { error: Error | null }> {
  override state = { error: null as Error | null };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (error === null) return this.props.children;
    if (error instanceof RangeError) return this.props.instead;
    throw error;
  }
}
