import { beforeEach, expect, it } from 'vitest';
import { clearSaved, readDraft, writeDraft } from './draft';

beforeEach(() => localStorage.clear());

it('a draft of a saved plan knows which revision it changes', () => {
  writeDraft('name: a\nmodels: []\n', 'plan-1', 7);
  expect(readDraft('plan-1')).toEqual({ text: 'name: a\nmodels: []\n', revision: 7 });
  expect(readDraft('plan-2')).toBeNull();
  clearSaved('name: b', 'plan-1');
  expect(readDraft('plan-1')).not.toBeNull();
  clearSaved('name: a\nmodels: []\n', 'plan-1');
  expect(readDraft('plan-1')).toBeNull();
});

it('a plan that is not saved has no revision, and comments in it stay', () => {
  writeDraft('# a comment\nname: a');
  expect(readDraft()).toEqual({ text: '# a comment\nname: a', revision: null });
});
