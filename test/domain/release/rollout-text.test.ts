import { describe, expect, test } from 'vitest';
import { rolloutText } from '../../../src/domain/release/rollout-text.ts';
import { promoted, rolling, rollout, wentBack } from './rollout-world.ts';

const plain = rollout([promoted('web-1'), rolling('web-2', { step: 'Soaking' }), rolling('web-3')]);

describe('a rollout as Temporal’s UI shows it', () => {
  test('names what is under way first, then what is done, then what waits', () => {
    expect(rolloutText(plain).split('\n')).toEqual([
      'Rollout **hive-1**: 1 of 3 targets done',
      '',
      '- web-2: Soaking (v6-b1)',
      '- web-1: Current  passed (v6-b1)',
      '- web-3: Waiting (v6-b1)',
    ]);
  });

  test('says what holds it', () => {
    const stopped = { target: 'web-1', reason: 'x', message: 'crash loop', cause: 'measured' } as const;
    const held = { ...plain, mode: 'Shadow' as const, paused: true, stopped };
    expect(rolloutText(held).split('\n').slice(1, 5)).toEqual([
      'Frozen: the mode is Shadow, so nothing is written',
      'Paused: nothing is begun or written until resumed',
      'No further target is started: crash loop',
      '',
    ]);
  });

  test('says how a target ended', () => {
    expect(rolloutText(rollout([wentBack('web-1')]))).toContain(
      '- web-1: RolledBack CrashLoopBackOff rolled back: crash loop (v6-b1)',
    );
    const quiet = promoted('web-1', { outcome: { phase: 'Current', reason: '', message: '' } });
    expect(rolloutText(rollout([quiet]))).toMatch(/- web-1: Current \(v6-b1\)$/);
  });

  test('names thirty targets, and how many there are besides', () => {
    const many = (count: number) => rollout(Array.from({ length: count }, (_, n) => rolling(`web-${n}`)));
    expect(rolloutText(many(30)).split('\n')).toHaveLength(32);
    expect(rolloutText(many(32)).split('\n').slice(31)).toEqual(['- web-29: Waiting (v6-b1)', '- and 2 more']);
  });
});
