import { useQuery } from '@tanstack/react-query';
import type { ServiceStatus } from '@/api/documents';
import { request } from '@/api/http';
import { Loaded, Section, Wide } from '@/components/Basics';
import { hasText, t } from '@/text/text';

const LEVELS = ['services', 'application', 'business'] as const;
const LOOK: Readonly<Record<string, string>> = { ok: 'mark-right', unknown: 'muted' };
/** What is not well stands first. */
const rank = (state: string) => (state === 'ok' ? 2 : state === 'unknown' ? 1 : 0);

/** Checks of pools carry the pool's name; what has no words of its own is called as it is. */
function nameOf(check: string): string {
  const [, pool, isAge] = /^queue_(.+?)(_age)?$/.exec(check) ?? [];
  if (pool !== undefined) return t(isAge ? 'status.queue-age' : 'status.queue', { pool });
  const key = `status.${check}`;
  return hasText(key) ? t(key) : check;
}

/** Every check of the service, with what was seen and what to do. */
export function Status() {
  const status = useQuery({
    queryKey: ['status'],
    queryFn: ({ signal }) => request<ServiceStatus>('/status', { signal }),
    refetchInterval: 30_000,
  });
  return (
    <Section title={t('status.title')}>
      <Loaded query={status} lines={3}>
        {(found) => {
          const checks = LEVELS.flatMap((level) => found[level].checks.map((check) => ({ level, ...check })));
          return (
            <Wide label={t('status.title')}>
              <table>
                <thead>
                  <tr>
                    <th>{t('status.check')}</th>
                    <th>{t('runs.status')}</th>
                    <th>{t('word.reason')}</th>
                  </tr>
                </thead>
                <tbody>
                  {checks
                    .sort((one, other) => rank(one.state) - rank(other.state))
                    .map((one) => (
                      <tr key={`${one.level} ${one.name}`}>
                        <td>
                          {nameOf(one.name)} <span className="muted small">{t(`status.level.${one.level}`)}</span>
                        </td>
                        <td className={LOOK[one.state] ?? 'mark-wrong'}>{one.state}</td>
                        <td className="muted prose">{one.reason}</td>
                      </tr>
                    ))}
                </tbody>
              </table>
            </Wide>
          );
        }}
      </Loaded>
    </Section>
  );
}
