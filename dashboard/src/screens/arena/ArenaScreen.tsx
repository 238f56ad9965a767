/** One prompt, several models: their answers side by side while they are written. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { PlaygroundAsk } from '@/api/documents';
import { useNewAsk, useStoredAsk } from '@/api/playground';
import { request } from '@/api/http';
import { useMay } from '@/api/session';
import { useKeys } from '@/app/keys';
import type { Parameters } from '@/app/routes';
import { Button, Empty, PageHead, Section } from '@/components/Basics';
import { VisibleText } from '@/components/Foreign';
import { Link } from '@/router/Link';
import { navigate, path, useParameters } from '@/router/location';
import { plural, t } from '@/text/text';
import { AskForm } from './AskForm';
import { AskView, titleOf } from './AskView';
import { clearForm, readForm, writeForm } from './draft';
import { PastAsks } from './PastAsks';
import { Ranking } from './Ranking';
import {
  bodyOf,
  continued,
  EMPTY_FORM,
  FormMistake,
  formOf,
  promptsOf,
  type AskForm as Form,
  type SentFile,
} from './request';
import { filesOf } from './sentFiles';
import './arena.css';

const SEPARATOR = ',';

export default function ArenaScreen({ parameters }: { parameters: Parameters }) {
  const asks = (parameters['ask'] ?? '').split(SEPARATOR).filter(Boolean);
  const [search] = useParameters();
  const before = search.get('before');
  const from = search.get('from');
  const mayAsk = useMay('run:write');
  const trail = asks.length > 0 ? <Link to="/arena">{t('nav.arena')}</Link> : t('nav.arena');
  const [first] = asks;
  if (first === undefined)
    return (
      <div className="arena">
        <PageHead trail={trail} title={t('arena.title')} lead={t('arena.lead')} />
        {mayAsk ? <FormOf asked={null} /> : <Empty title={t('arena.may-look')} />}
        <Ranking />
        <PastAsks />
      </div>
    );
  return (
    <div className="arena">
      <PageHead
        trail={trail}
        title={asks.length > 1 ? plural('arena.prompts', asks.length) : <AskedTitle ask={first} />}
      />
      {asks.map((ask, index) => (
        <AskView
          key={ask}
          ask={ask}
          before={asks.length === 1 ? before : null}
          isFirst={index === 0}
          isTitled={asks.length === 1}
        />
      ))}
      {mayAsk && (
        <Section title={t(from === null ? 'arena.again' : 'arena.go-on')}>
          <FilledForm key={`${first} ${from ?? ''}`} ask={first} from={from} />
        </Section>
      )}
    </div>
  );
}

/** The prompt is what one looks for again. */
function AskedTitle({ ask }: { ask: string }) {
  const prompt = titleOf(useStoredAsk(ask).data);
  return prompt === '' ? t('arena.title') : <VisibleText text={prompt} />;
}

function FilledForm({ ask, from }: { ask: string; from: string | null }) {
  const { data } = useStoredAsk(ask);
  return data === undefined ? null : <FormOf asked={data} from={from} />;
}

function FormOf({ asked, from = null }: { asked: PlaygroundAsk | null; from?: string | null }) {
  const client = useQueryClient();
  const [form, setForm] = useState<Form>(() => {
    if (!asked) return readForm() ?? EMPTY_FORM;
    return from === null ? formOf(asked) : continued(asked, from);
  });
  const [files, setFiles] = useState<readonly SentFile[]>([]);
  const [mistake, setMistake] = useState<string | null>(null);
  const isMounted = useRef(true);
  const send = useNewAsk();
  useEffect(() => {
    isMounted.current = true;
    if (asked && asked.view.files.length > 0) void filesOf(asked).then((found) => isMounted.current && setFiles(found));
    if (!asked && form.models.length === 0)
      void lastModels().then((models) =>
        setForm((now) => (isMounted.current && now.models.length === 0 ? { ...now, models } : now)),
      );
    return () => {
      isMounted.current = false;
    };
    // Once for each ask: its files never change, and whoever removes every model wants it so.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [asked?.ask_id]);
  const change = (next: Form) => {
    setForm(next);
    setMistake(null);
    if (!asked) writeForm(next);
  };
  const ask = async () => {
    if (form.models.length === 0 || send.isPending) return;
    try {
      const bodies = promptsOf(form.prompt).map((prompt) => bodyOf(form, prompt, files));
      setMistake(null);
      const ids: string[] = [];
      for (const body of bodies) ids.push((await send.mutateAsync(body)).ask_id);
      clearForm();
      const to = `/arena/${ids.map(encodeURIComponent).join(SEPARATOR)}`;
      navigate(asked && from === null && ids.length === 1 ? `${to}?before=${encodeURIComponent(asked.ask_id)}` : to);
      void client.invalidateQueries({ queryKey: ['asks'] });
    } catch (error) {
      if (error instanceof FormMistake) setMistake(error.message);
      // What the server refuses is shown below the form, in its words.
    }
  };
  useKeys([{ key: 'b', label: t('arena.blind'), run: () => change({ ...form, isBlind: !form.isBlind }) }]);
  return (
    <>
      {!asked && <Starters form={form} change={change} />}
      <AskForm
        form={form}
        change={change}
        files={files}
        changeFiles={setFiles}
        ask={() => void ask()}
        isAsking={send.isPending}
        mistake={mistake}
        isNext={from !== null}
        error={send.error}
      />
    </>
  );
}

const STARTERS = ['arena.starter.sum', 'arena.starter.explain', 'arena.starter.translate'] as const;
const FIRST_MODELS = ['demo/strong?delay_ms=1500', 'demo/weak?delay_ms=800'];

/** Three prompts to begin with; with the models that were asked last, or those that need no key. */
function Starters({ form, change }: { form: Form; change: (form: Form) => void }) {
  if (form.prompt.trim() !== '') return null;
  return (
    <div className="arena-starters buttons" role="group" aria-label={t('arena.starters')}>
      {STARTERS.map((key) => (
        <Button key={key} onClick={() => change({ ...form, prompt: t(key) })}>
          {t(key)}
        </Button>
      ))}
    </div>
  );
}

async function lastModels(): Promise<readonly string[]> {
  const page = await request<{ items: { ask_id: string }[] }>('/playground', { query: { limit: 1 } });
  const last = page.items[0];
  if (!last) return FIRST_MODELS;
  return formOf(await request<PlaygroundAsk>(path`/playground/${last.ask_id}`)).models;
}
