/** A response: its beginning at once, more of it when that is asked for, and all of it as a file, however long it is. */
import { useState } from 'react';
import { Answer, AnswerFormSwitch } from '@/answers/Answer';
import type { TrialResult } from '@/api/documents';
import { address } from '@/api/http';
import { FIRST_CHARACTERS, useMoreOfResult } from '@/api/review';
import { Button, Failure } from '@/components/Basics';
import { Dash } from '@/components/Figures';
import { path } from '@/router/location';
import { t } from '@/text/text';

/** What is longer is read in another program. */
const MAX_CHARACTERS = 2_000_000;

export default function ResponseText({ result }: { result: TrialResult }) {
  const [wanted, setWanted] = useState(FIRST_CHARACTERS);
  const more = useMoreOfResult(result.run_id, result.result_id, wanted);
  const text = more.data?.response ?? result.response;
  if (text === null) return <Dash reason={t('reason.no-response')} />;
  const total = result.response_characters ?? text.length;
  return (
    <>
      <AnswerFormSwitch />
      <Answer text={text} limit={wanted} total={total} />
      {total > FIRST_CHARACTERS && (
        <p className="buttons no-print">
          {total > wanted && wanted < MAX_CHARACTERS && (
            <Button disabled={more.isFetching} onClick={() => setWanted(Math.min(wanted * 10, MAX_CHARACTERS))}>
              {t('text.more')}
            </Button>
          )}
          <a
            className="button"
            href={address(path`/runs/${result.run_id}/results/${result.result_id}/response`)}
            download={`${result.sample_id}.txt`}
          >
            {t('text.download')}
          </a>
        </p>
      )}
      {more.error && <Failure error={more.error} />}
    </>
  );
}
