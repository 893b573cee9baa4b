import { describe, expect, test } from 'vitest';
import { applyAction } from '../../../src/domain/release/apply-action.ts';
import { evaluate } from '../../../src/domain/release/evaluate.ts';
import { mayHandBack, recordKeptMarks, whyKept } from '../../../src/domain/release/hand-back.ts';
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

  test('names the targets that keep their marks', () => {
    expect(whyKept({ kind: 'written', repeated: false })).toBeNull();
    expect(whyKept({ kind: 'refused', reason: 'Missing', message: 'gone' })).toBeNull();
    expect(whyKept({ kind: 'refused', reason: 'Denied', message: 'forbidden' })).toBe('forbidden');
    expect(whyKept({ kind: 'unknown', message: 'no answer' })).toBe('no answer');
    const state = release('Enforce');
    expect(recordKeptMarks(state, [], NOW)).toBe(state);
    expect(recordKeptMarks(state, ['web-1: no answer'], NOW).evidence.at(-1)).toMatchObject({
      outcome: 'not handed back',
      message: 'marks stay on 1 targets: web-1: no answer',
    });
  });
});
