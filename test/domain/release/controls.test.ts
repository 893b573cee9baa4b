import { describe, expect, test } from 'vitest';
import { parseAction, type ReleaseAction } from '../../../src/domain/release/actions.ts';
import { applyControl, controlsOf, type RolloutControl } from '../../../src/domain/release/controls.ts';
import {
  abortRollout,
  decideStep,
  setBlocked,
  setMode,
  setPaused,
} from '../../../src/domain/release/rollout-control.ts';
import { takeSpec } from '../../../src/domain/release/take-spec.ts';
import { begin } from './rollout-steps.ts';
import { TO_DIGEST } from './rollout-world.ts';
import { NOW, spec, start } from './world.ts';

const entry = { image: TO_DIGEST, by: 'bob', reason: '', at: NOW, cooldownUntil: 0, cooldownOnly: false };
const paused = { by: 'bob', reason: '', at: NOW };
const state = start(spec({ mode: 'Shadow' }), { blocked: [entry], paused });

function told(name: ReleaseAction['action'], payload: Record<string, unknown> = {}, of = state): RolloutControl[] {
  const parsed = parseAction(name, { by: 'ana', reason: 'because', ...payload });
  if (!parsed.ok) throw new Error(parsed.message);
  return controlsOf(parsed.action, of, ['web-1', 'web-2']);
}

describe('what a rollout is told of', () => {
  const step = { kind: 'decide', by: 'ana', reason: 'because' } as const;

  test('decisions about its steps, one for each', () => {
    expect(told('approve', { target: 'web-1' })).toEqual([
      { ...step, target: 'web-1', approved: true },
      { ...step, target: 'web-2', approved: true },
    ]);
    expect(told('reject', { target: 'web-1' })).toEqual([
      { ...step, target: 'web-1', approved: false },
      { ...step, target: 'web-2', approved: false },
    ]);
  });

  test('an abort, as it was asked for', () => {
    const abort = { kind: 'abort', by: 'ana', reason: 'because' };
    expect(told('abort', { how: 'rollback', now: true })).toEqual([{ ...abort, how: 'rollback', now: true }]);
    expect(told('abort', { how: 'stop' })).toEqual([{ ...abort, how: 'stop', now: false }]);
  });

  test('what the release has come to with the action, and not what was sent', () => {
    expect(told('pause')).toEqual([{ kind: 'paused', paused: true }]);
    expect(told('resume', {}, { ...state, paused: null })).toEqual([{ kind: 'paused', paused: false }]);
    for (const name of ['block', 'unblock'] as const) {
      expect(told(name, { image: 'v1' })).toEqual([{ kind: 'blocked', blocked: [entry] }]);
    }
    expect(told('setMode', { mode: 'Enforce' })).toEqual([{ kind: 'mode', mode: 'Shadow' }]);
    expect(told('applySpec', { spec: spec() })).toEqual([{ kind: 'spec', spec: state.spec }]);
  });

  test('is nothing where it only matters to the next rollout', () => {
    const others = [
      told('pin', { image: 'v1' }),
      told('unpin'),
      told('retry'),
      told('releaseOwnership'),
      told('runNow'),
    ];
    expect(others).toEqual([[], [], [], [], []]);
  });
});

describe('a rollout takes in', () => {
  const rollout = begin({ approval: 'beforeEach' });
  const later = NOW + 1;
  const abort = { how: 'rollback', now: true, by: 'ana', reason: 'because' } as const;
  const decision = { target: 'web-1', approved: true, by: 'ana', reason: 'because' };

  test.each<[RolloutControl, (of: typeof rollout) => typeof rollout]>([
    [{ kind: 'mode', mode: 'Shadow' }, (of) => setMode(of, 'Shadow', later)],
    [{ kind: 'paused', paused: true }, (of) => setPaused(of, true, later)],
    [{ kind: 'blocked', blocked: [entry] }, (of) => setBlocked(of, [entry], later)],
    [{ kind: 'spec', spec: state.spec }, (of) => takeSpec(of, state.spec, later)],
    [{ kind: 'abort', ...abort }, (of) => abortRollout(of, abort, later)],
    [{ kind: 'decide', ...decision }, (of) => decideStep(of, { ...decision, at: later }, later)],
  ])('$kind', (control, expected) => {
    const after = applyControl(rollout, control, later);
    expect(after).toEqual(expected(rollout));
    expect(after).not.toEqual(rollout);
  });
});
