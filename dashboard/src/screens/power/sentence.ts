/** The answer and what it rests on, in the words of `proctor power`. */
import type { PowerAnswer } from '@/api/documents';
import { percentText, pointsText } from '@/numbers/rounding';
import { countText } from '@/numbers/text';
import { t } from '@/text/text';

const short = (value: number) => String(Number(value.toPrecision(6)));

export function powerSentence(answer: PowerAnswer): string {
  const certainty = t('power.certainty', { power: short(100 * answer.power), alpha: short(100 * answer.alpha) });
  const start = startOf(answer);
  if (answer.discordance === null) return t('power.sentence', { start, certainty });
  const share = percentText(answer.discordance);
  return t('power.sentence.rests', { start, certainty, share, from: answer.discordance_from ?? '' });
}

function startOf(answer: PowerAnswer): string {
  // A field that has nothing to say is left out of a document.
  if (typeof answer.samples === 'number') {
    const n = countText(answer.samples);
    if (typeof answer.detectable_difference !== 'number') return t('power.cannot', { n });
    return t('power.can', { n, points: pointsText(answer.detectable_difference).replace('+', '') });
  }
  const given = { n: countText(answer.samples_needed ?? 0), points: short(100 * (answer.difference ?? 0)) };
  return t(answer.design === 'unpaired' ? 'power.needs.unpaired' : 'power.needs', given);
}
