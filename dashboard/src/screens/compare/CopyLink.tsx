import { useState } from 'react';
import { Button } from '@/components/Basics';
import { t } from '@/text/text';

/** The address holds everything that is seen, so it is all a colleague needs. */
export function CopyLink() {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(location.href);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <Button onClick={() => void copy()}>
      <span aria-live="polite">{isCopied ? t('action.copied') : t('action.copy-link')}</span>
    </Button>
  );
}
