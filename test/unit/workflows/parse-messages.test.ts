import { describe, expect, test } from 'vitest';
import { pack } from '../../../src/domain/core/packed.ts';
import { parseRolloutMessage, parseRolloutReport } from '../../../src/workflows/release/parse-messages.ts';
import { begin } from '../../domain/release/rollout-steps.ts';

const rollout = begin();
const [first] = rollout.targets;

const nonsense: readonly unknown[] = [
  null,
  undefined,
  0,
  '',
  [],
  {},
  { kind: 'constructor' },
  { kind: 'target', rollout: 'hive-1' },
  { kind: 'target', rollout: 'hive-1', stopped: null, target: null },
  { kind: 'target', rollout: 'hive-1', stopped: null, target: { ...first, step: 'toString' } },
  { kind: 'target', rollout: 'hive-1', stopped: null, target: { ...first, item: null } },
  { kind: 'state', rollout: 'hive-1', finished: true, state: null },
  { kind: 'state', rollout: 'hive-1', finished: true, state: {} },
  { kind: 'state', rollout: 'hive-1', finished: true, state: { plain: null } },
  { kind: 'state', rollout: 'hive-1', finished: true, state: { texts: [], shapes: [], value: [7, 1] } },
  { kind: 'state', rollout: 'hive-1', finished: true, state: { texts: null, shapes: null, value: '$1' } },
  { kind: 'state', rollout: 'hive-1', finished: true, state: { plain: { ...rollout, targets: [null] } } },
  { kind: 'state', rollout: 'hive-1', finished: true, state: { plain: { ...rollout, release: 'another' } } },
  { kind: 'mode', mode: 'Everything' },
  { kind: 'paused', paused: 'yes' },
  { kind: 'blocked', blocked: [null] },
  { kind: 'abort', how: 'stop', now: true, by: null, reason: '' },
  { kind: 'decide', target: 7 },
  { kind: 'report', to: 'somebody/else' },
  { kind: 'spec', spec: {} },
];

describe('what is signalled to a release or a rollout by hand', () => {
  test.each(nonsense.map((message) => [JSON.stringify(message) ?? 'nothing', message]))(
    '%s is dropped',
    (_text, it) => {
      expect(parseRolloutReport(it, 'hive')).toMatchObject({ ok: false });
      expect(parseRolloutMessage(it, 'hive')).toMatchObject({ ok: false });
    },
  );

  test('what they say to each other is read as it was sent', () => {
    const target = { rollout: 'hive-1', kind: 'target', target: first, stopped: null };
    expect(parseRolloutReport(target, 'hive')).toEqual({ ok: true, message: target });
    for (const large of [1, 1_000_000]) {
      const state = { rollout: 'hive-1', kind: 'state', finished: false, state: pack(rollout, large) };
      expect(parseRolloutReport(state, 'hive')).toEqual({ ok: true, message: { ...state, state: rollout } });
    }
    for (const control of [
      { kind: 'mode', mode: 'Shadow' },
      { kind: 'paused', paused: true },
      { kind: 'blocked', blocked: [] },
      { kind: 'spec', spec: rollout.spec },
      { kind: 'abort', how: 'stop', now: false, by: 'ana', reason: '' },
      { kind: 'decide', target: 'web-1', approved: true, by: 'ana', reason: '' },
      { kind: 'report', to: 'release/hive' },
    ]) {
      expect(parseRolloutMessage(control, 'hive')).toEqual({ ok: true, message: control });
    }
  });
});
