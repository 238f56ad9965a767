import { expect, it } from 'vitest';
import type { PowerAnswer } from '@/api/documents';
import { powerSentence } from './sentence';

const ANSWER: PowerAnswer = {
  design: 'paired',
  accuracy: null,
  discordance: 0.2,
  discordance_from: 'given',
  power: 0.8,
  alpha: 0.05,
  samples: null,
  difference: 0.02,
  samples_needed: 3926,
};

it('says what a difference needs as the command line does', () => {
  expect(powerSentence(ANSWER)).toBe(
    '3,926 samples, answered by both models, detect a difference of 2 points with 80 % power (two-sided test at 5 %), if the models differ on 20.0 % of the samples (given).',
  );
});

it('says what so many samples can show, or that they show nothing', () => {
  const asked = { ...ANSWER, samples: 500, samples_needed: null, difference: null };
  expect(powerSentence({ ...asked, detectable_difference: 0.056 })).toContain(
    '500 samples can detect a difference of 5.6 points or more with',
  );
  expect(powerSentence({ ...asked, detectable_difference: null })).toContain(
    '500 samples cannot detect any difference',
  );
});
