import { agoText } from '@/numbers/text';
import { t, useLanguage } from '@/text/text';

/** How long ago; pointing at it shows when. */
export function Ago({ when, never = t('settings.never') }: { when: string | null; never?: string }) {
  const language = useLanguage();
  if (when === null) return <span className="muted">{never}</span>;
  const at = new Date(when);
  return (
    <time dateTime={when} title={at.toLocaleString(language)}>
      {agoText(at, new Date(), language)}
    </time>
  );
}
