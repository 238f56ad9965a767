import { useEffect, useState } from 'react';
import type { Live } from '@/api/live';
import { secondsText } from '@/numbers/text';
import { t } from '@/text/text';

/** Whether what is seen is live, and how old it is when it is not. */
export function LiveBadge({ live }: { live: Live }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const age = live.heard === null ? null : Math.max(0, Math.floor((now - live.heard) / 1000));
  const isLive = live.state === 'live';
  return (
    <span className="live" role="status" data-live={live.state}>
      <i className={isLive ? 'dot' : 'dot off'} aria-hidden="true" />
      {isLive ? t('live.on') : t('live.off')}
      {!isLive && age !== null && ` · ${t('live.age', { age: secondsText(age) })}`}
    </span>
  );
}
