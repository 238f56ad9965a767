import { useQuery } from '@tanstack/react-query';
import { t } from '@/text/text';

async function readiness(): Promise<readonly string[]> {
  const response = await fetch('/ready');
  if (response.ok) return [];
  const body = (await response.json().catch(() => ({}))) as { down?: string[] };
  return body.down ?? [t('server.unknown')];
}

/** Whether the server and what it needs answer; says what does not. */
export function ServerState() {
  const ready = useQuery({ queryKey: ['ready'], queryFn: readiness, refetchInterval: 15_000, retry: false });
  const down = ready.error ? [t('server.itself')] : (ready.data ?? []);
  if (ready.isPending) return null;
  const text = down.length > 0 ? t('server.down', { what: down.join(', ') }) : t('server.well');
  return (
    <span className="server-state" role="status">
      <i className={down.length > 0 ? 'dot down' : 'dot'} aria-hidden="true" />
      {text}
    </span>
  );
}
