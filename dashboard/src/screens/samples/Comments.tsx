/** What people say of a result. */
import { useState } from 'react';
import { useAddComment, useDeleteComment } from '@/api/comments';
import { useComments } from '@/api/results';
import { useMay } from '@/api/session';
import { Button, Failure } from '@/components/Basics';
import { Foreign } from '@/components/Foreign';
import { agoText } from '@/numbers/text';
import { t, useLanguage } from '@/text/text';
import { Block } from './Block';

const MAX_CHARACTERS = 20_000;

export function Comments({ run, result }: { run: string; result: string }) {
  const language = useLanguage();
  const mayWrite = useMay('run:write');
  const comments = useComments(run);
  const add = useAddComment(run, result);
  const remove = useDeleteComment(run);
  const [text, setText] = useState('');
  const mine = (comments.data ?? []).filter((one) => one.result_id === result);
  if (!mayWrite && mine.length === 0) return null;
  const submit = () => {
    if (text.trim() !== '') add.mutate(text, { onSuccess: () => setText('') });
  };
  return (
    <Block title={t('samples.comments')}>
      <ul className="comments">
        {mine.map((one) => (
          <li key={one.comment_id}>
            <span className="small muted">
              <bdi>{one.author}</bdi> · {agoText(new Date(one.created_at), new Date(), language)}
            </span>
            <Foreign text={one.text} />
            {mayWrite && (
              <Button
                kind="quiet"
                aria-label={t('samples.comment.delete')}
                onClick={() => remove.mutate(one.comment_id)}
              >
                ×
              </Button>
            )}
          </li>
        ))}
      </ul>
      {mayWrite && (
        <form
          className="new-comment no-print"
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <textarea
            className="input"
            rows={2}
            maxLength={MAX_CHARACTERS}
            aria-label={t('samples.comment.new')}
            placeholder={t('samples.comment.new')}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <Button type="submit" disabled={text.trim() === '' || add.isPending}>
            {t('samples.comment.add')}
          </Button>
        </form>
      )}
      {(add.error ?? remove.error) && <Failure error={(add.error ?? remove.error) as Error} />}
    </Block>
  );
}
