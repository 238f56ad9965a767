/** What the form holds, and the request that it becomes. */
import type { PlaygroundAsk } from '@/api/documents';

export interface SentFile {
  name: string;
  data: string;
  kind: FileKind;
  bytes: number;
}
export type FileKind = 'image' | 'pdf' | 'text';

/** What was said before the prompt. */
export interface Turn {
  role: 'user' | 'assistant';
  text: string;
}

export interface AskForm {
  models: readonly string[];
  prompt: string;
  system: string;
  temperature: string;
  maxTokens: string;
  costUsd: string;
  input: string;
  inputSchema: string;
  answerSchema: string;
  tools: string;
  history: readonly Turn[];
  isBlind: boolean;
}

export const EMPTY_FORM: AskForm = {
  models: [],
  prompt: '',
  system: '',
  temperature: '',
  maxTokens: '',
  costUsd: '',
  input: '',
  inputSchema: '',
  answerSchema: '',
  tools: '',
  history: [],
  isBlind: false,
};

/** Several prompts stand in one field, a line of three dashes between them. */
export const promptsOf = (text: string): string[] => {
  const found = text
    .split(/^---\s*$/m)
    .map((one) => one.trim())
    .filter((one) => one !== '');
  return found.length > 0 ? found : [''];
};

const FIELDS: Readonly<Record<FileKind, string>> = { image: 'images', pdf: 'documents', text: 'texts' };

export class FormMistake extends Error {}

/** The body to send for one prompt; raises FormMistake for JSON that is none. */
export function bodyOf(form: AskForm, prompt: string, files: readonly SentFile[]): Record<string, unknown> {
  const kinds = [...new Set(files.map((file) => file.kind))];
  if (kinds.length > 1) throw new FormMistake('mixed');
  const isStructured = form.input.trim() !== '';
  if (isStructured && kinds.length > 0) throw new FormMistake('mixed');
  const kind = kinds[0];
  const options = {
    ...numberOf('temperature', form.temperature),
    ...numberOf('max_tokens', form.maxTokens),
  };
  return {
    kind: isStructured ? 'structured' : (kind ?? 'text'),
    models: form.models,
    prompt,
    ...(form.system.trim() === '' ? {} : { system: form.system }),
    ...(Object.keys(options).length === 0 ? {} : { options }),
    ...numberOf('cost_usd', form.costUsd),
    ...(form.isBlind ? { is_blind: true } : {}),
    ...(form.answerSchema.trim() === '' ? {} : { answer_schema: jsonOf(form.answerSchema) }),
    ...(form.tools.trim() === '' ? {} : { tools: toolsOf(form.tools) }),
    ...(saidBefore(form).length === 0 ? {} : { history: saidBefore(form) }),
    ...(isStructured ? { input: jsonOf(form.input), input_schema: jsonOf(form.inputSchema.trim() || '{}') } : {}),
    ...(kind === undefined ? {} : { [FIELDS[kind]]: files.map(({ name, data }) => ({ name, data })) }),
  };
}

const saidBefore = ({ history }: AskForm) => history.filter((turn) => turn.text.trim() !== '');

function toolsOf(text: string): readonly unknown[] {
  const tools = jsonOf(text);
  if (!Array.isArray(tools)) throw new FormMistake('tools');
  return tools;
}

function numberOf(name: string, text: string): Record<string, number> {
  if (text.trim() === '') return {};
  const value = Number(text);
  if (!Number.isFinite(value)) throw new FormMistake('number');
  return { [name]: value };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new FormMistake('json');
  }
}

const text = (value: unknown) => (value === null || value === undefined ? '' : String(value as string | number));
const json = (value: unknown) => (value === null || value === undefined ? '' : JSON.stringify(value, null, 2));
const named = (value: unknown) =>
  typeof value === 'string' ? value : ((value as { model?: string } | null)?.model ?? '');

/** The form as it was when this was asked. */
export function formOf(ask: PlaygroundAsk): AskForm {
  const asked = ask.request as Record<string, unknown>;
  const options = (asked['options'] ?? {}) as Record<string, unknown>;
  return {
    models: ((asked['models'] ?? []) as unknown[]).map(named),
    prompt: text(asked['prompt']),
    system: text(asked['system']),
    temperature: text(options['temperature']),
    maxTokens: text(options['max_tokens']),
    costUsd: text(asked['cost_usd']),
    input: json(asked['input']),
    inputSchema: json(asked['input_schema']),
    answerSchema: json(asked['answer_schema']),
    tools: ((asked['tools'] ?? []) as unknown[]).length === 0 ? '' : json(asked['tools']),
    history: (asked['history'] ?? []) as Turn[],
    isBlind: ask.is_blind,
  };
}

/** The form to go on from one of the answers: what was asked and answered stands before the next prompt. */
export function continued(ask: PlaygroundAsk, answer: string): AskForm {
  const form = formOf(ask);
  const found = ask.answers.find((one) => one.answer === answer);
  if (!found || found.text === '') return form;
  const history: readonly Turn[] = [
    ...form.history,
    { role: 'user', text: form.prompt },
    { role: 'assistant', text: found.text },
  ];
  return { ...form, prompt: '', history };
}

/** Which fields of the form differ: what was changed between two asks. */
export function changedFields(before: PlaygroundAsk, after: PlaygroundAsk): (keyof AskForm)[] {
  const [a, b] = [formOf(before), formOf(after)];
  return (Object.keys(a) as (keyof AskForm)[]).filter((name) => JSON.stringify(a[name]) !== JSON.stringify(b[name]));
}

const MAX_BYTES = 20 * 1024 * 1024;

/** A file as it is sent; null for one of no kind that is taken, or too large. */
export async function readFile(file: File): Promise<SentFile | null> {
  if (file.size > MAX_BYTES) return null;
  const kind = kindOf(file);
  if (kind === null) return null;
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = '';
  for (let start = 0; start < bytes.length; start += 0x8000)
    binary += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  return { name: file.name || `pasted.${kind}`, data: btoa(binary), kind, bytes: file.size };
}

function kindOf(file: File): FileKind | null {
  if (/^image\/(png|jpeg|webp)$/.test(file.type)) return 'image';
  if (file.type === 'application/pdf') return 'pdf';
  if (file.type.startsWith('text/') || /\.(txt|md|csv|json|jsonl|yaml|yml|py|ts|js|log)$/i.test(file.name))
    return 'text';
  return null;
}
