import { describe, expect, test } from 'vitest';
import { applyAction } from '../../../src/domain/release/apply-action.ts';
import { evaluate } from '../../../src/domain/release/evaluate.ts';
import { handBackRecord, mayHandBack, recordKeptMarks, whyKept } from '../../../src/domain/release/hand-back.ts';
import { fleet, managed, image, NOW, observe, resolved, spec, start } from './world.ts';

function release(mode: 'Shadow' | 'Enforce') {
  const of = spec({ mode });
  return evaluate(start(of), observe(of, resolved('b1'), fleet(managed(image('v6-latest', 'a0')))), NOW).state;
}

describe('releasing ownership', () => {
  test.each([
    ['Enforce', true, /^hands every target back as it is and ends; .*holdfast history release\/hive/],
    ['Shadow', false, /^ends without a write, .*marks stay .*holdfast set-mode release\/hive Enforce, .*kubectl/],
  ] as const)('in %s: marks are taken off is %s, and the answer says so', (mode, writes, said) => {
    const state = release(mode);
    expect(mayHandBack(state)).toBe(writes);
    const answer = applyAction(state, { action: 'releaseOwnership', by: 'ana', reason: '' }, NOW, null);
    expect(answer).toMatchObject({ ok: true, record: expect.stringMatching(said) as string });
  });

  test('writes nothing where anything keeps Enforce from being in force, and says what is', () => {
    const held = release('Enforce');
    const evaluation = held.evaluation === null ? null : { ...held.evaluation, effectiveMode: 'Observe' as const };
    expect(mayHandBack({ ...held, evaluation })).toBe(false);
    expect(handBackRecord({ ...held, evaluation })).toMatch(/^ends without a write, since Observe writes nothing/);
    expect(mayHandBack({ ...held, evaluation: null })).toBe(true);
    expect(mayHandBack({ ...release('Shadow'), evaluation: held.evaluation })).toBe(false);
    expect(mayHandBack({ ...release('Shadow'), evaluation: null })).toBe(false);
    const unseen = { ...release('Shadow'), evaluation: null };
    expect(handBackRecord(unseen)).toMatch(/^ends without a write, since Shadow writes nothing/);
  });

  test('names the targets that keep their marks', () => {
    expect(whyKept({ kind: 'written', repeated: false })).toBeNull();
    expect(whyKept({ kind: 'refused', reason: 'Missing', message: 'gone' })).toBeNull();
    expect(whyKept({ kind: 'refused', reason: 'Changed', message: 'of another release' })).toBeNull();
    expect(whyKept({ kind: 'refused', reason: 'Denied', message: 'forbidden' })).toBe('forbidden');
    expect(whyKept({ kind: 'unknown', message: 'no answer' })).toBe('no answer');
    const state = release('Enforce');
    expect(recordKeptMarks(state, [], NOW)).toBe(state);
    expect(recordKeptMarks(state, ['web-1: no answer', 'web-2: forbidden'], NOW).evidence.at(-1)).toEqual({
      at: NOW,
      kind: 'decision',
      what: 'release/hive',
      outcome: 'not handed back',
      message: 'marks stay on 2 targets: web-1: no answer; web-2: forbidden',
    });
  });
});
