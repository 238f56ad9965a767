/** What a verdict says, in the reader's language. */
import type { Comparison } from '@/api/documents';
import { hasText, plural, t } from '@/text/text';

export type HasVerdict = Pick<Comparison, 'verdict' | 'verdict_parts'>;

/** In the API's sentence where there are no words for its name. */
export function verdictText({ verdict, verdict_parts: { code, values, corrected_for: family } }: HasVerdict): string {
  const key = `verdict.${code}`;
  if (!hasText(key)) return verdict;
  const form = code === 'better' ? 'verdict.corrected' : 'verdict.after-correcting';
  const corrected = family === null ? '' : t(form, { n: family });
  const points = values['points'] ?? '';
  return t(key, { ...values, corrected, size: plural('verdict.points', Number(points), points) });
}
