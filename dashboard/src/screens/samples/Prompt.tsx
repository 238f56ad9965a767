/** The prompt as it was sent, with its worked examples folded, and what else the sample holds. */
import type { ResultDetails, TrialResult } from '@/api/documents';
import { Foreign } from '@/components/Foreign';
import { t } from '@/text/text';
import { Folded } from './Block';

interface Message {
  role: string;
  text: string;
}

/** Messages, whatever their content is: text as it is, parts that are no text as JSON. */
export function messagesOf(prompt: unknown): Message[] {
  const given = (prompt as { messages?: unknown } | null)?.messages;
  if (!Array.isArray(given)) return [];
  return given.map((one: unknown) => {
    const { role, content } = one as { role?: unknown; content?: unknown };
    const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
    return { role: typeof role === 'string' ? role : '', text };
  });
}

export function Prompt({ result }: { result: TrialResult | ResultDetails }) {
  const messages = messagesOf(result.prompt);
  if (messages.length === 0) return null;
  const start = messages.findIndex((one) => one.role !== 'system');
  const end = start + 2 * (result.worked_examples ?? 0);
  const examples = messages.slice(start, end);
  const own = [...messages.slice(0, start), ...messages.slice(end)];
  const others = { choices: result.choices, metadata: result.metadata, tags: result.tags };
  const told = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null && value !== undefined));
  return (
    <>
      <Folded title={t('samples.prompt')}>
        {examples.length > 0 && (
          <Folded title={t('samples.examples', { n: examples.length / 2 })}>
            <Messages messages={examples} />
          </Folded>
        )}
        <Messages messages={own} />
      </Folded>
      {Object.keys(told).length > 0 && (
        <Folded title={t('samples.metadata')}>
          <pre>
            <Foreign text={JSON.stringify(told, null, 2)} />
          </pre>
        </Folded>
      )}
    </>
  );
}

function Messages({ messages }: { messages: readonly Message[] }) {
  return (
    <ol className="messages">
      {messages.map((one, index) => (
        <li key={index}>
          <span className="muted small">{one.role}</span>
          <Foreign text={one.text} />
        </li>
      ))}
    </ol>
  );
}
