import { useQuery } from '@tanstack/react-query';
import { readIndex } from '@/api/site';
import { t, useLanguage } from '@/text/text';

/** When an exported site was made: nothing on it is live. */
export function SiteMade() {
  const language = useLanguage();
  const index = useQuery({ queryKey: ['site'], queryFn: readIndex, staleTime: Infinity });
  if (!index.data) return null;
  return (
    <span className="server-state muted small">
      {t('site.made', { when: new Date(index.data.made_at).toLocaleString(language) })}
    </span>
  );
}
