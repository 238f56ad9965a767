/** What is in no number of this comparison, and why. */
import type { Comparison } from '@/api/documents';
import { Section } from '@/components/Basics';
import { countText } from '@/numbers/text';
import { t, type TextKey } from '@/text/text';

export function LeftOut({ comparison, others }: { comparison: Comparison; others: readonly string[] }) {
  const counts = Object.entries(comparison.left_out).filter(([, count]) => count > 0);
  if (counts.length === 0 && others.length === 0) return null;
  const names = { a: comparison.a.name, b: comparison.b.name };
  return (
    <Section title={t('compare.left-out')} note={t('compare.left-out.note')}>
      <ul className="plain-list">
        {counts.map(([kind, count]) => (
          <li key={kind}>
            <strong>{countText(count)}</strong> {t(`left-out.${kind}` as TextKey, names)}
          </li>
        ))}
        {others.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
    </Section>
  );
}
