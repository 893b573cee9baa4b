import { describe, expect, test } from 'vitest';
import { kubectlCommands, lookAt } from '../../../src/domain/release/rollback-message.ts';
import { chooseRollbackTarget } from '../../../src/domain/release/rollback-target.ts';
import type { PreflightFound, TargetRollout } from '../../../src/domain/release/rollout.ts';
import type { Blocked } from '../../../src/domain/release/state.ts';
import { begin, found, FROM, item, noMarks, of, outcomes, ownMarks, preflight, take, TO } from './rollout-steps.ts';
import { digest, image, NOW, REPOSITORY, spec } from './world.ts';

const PASSED = image('v6.0.0', 'c3');
const RUNNING = image('v6.1.0', 'd4');

const target = (overrides: Partial<TargetRollout> = {}) => ({
  item: item(),
  skipPreflight: false,
  remembered: { applied: null, version: null, passed: null },
  ...overrides,
});

const block = (name: string, overrides: Partial<Blocked> = {}): Blocked => ({
  image: name,
  by: 'ann',
  reason: '',
  at: NOW,
  cooldownUntil: 0,
  cooldownOnly: false,
  ...overrides,
});

function choose(
  reads: Partial<PreflightFound> = {},
  overrides: Partial<TargetRollout> = {},
  blocked: readonly Blocked[] = [],
  blocklist: string[] = [],
) {
  return chooseRollbackTarget({ blocked, spec: spec({ blocklist }) }, target(overrides), {
    ...found,
    marks: noMarks,
    runningImage: RUNNING,
    ...reads,
  });
}

const chosen = (...args: Parameters<typeof choose>) => {
  const choice = choose(...args);
  return choice.kind === 'found' ? choice.target.image : choice.message;
};

const passedBefore = { marks: { ...noMarks, passed: PASSED } };

describe('H-A17 the image to go back to', () => {
  test('is the running image', () => {
    expect(choose()).toEqual({ kind: 'found', target: { image: RUNNING, version: 'v6.1.0' } });
    expect(chosen(passedBefore)).toBe(RUNNING);
  });

  test('is the running image also where its digest is the one that is rolled, under another name', () => {
    const same = `${REPOSITORY}:other@${digest('b1')}`;
    expect(chosen({ ...passedBefore, runningImage: same })).toBe(same);
  });

  test.each([
    ['blocked by digest', [block(digest('d4'))], []],
    ['blocked by its tag', [block('v6.1.0')], []],
    ['on the spec’s list', [], [digest('d4')]],
  ])('is the last that passed here where the running image is %s', (_, blocked, blocklist) => {
    expect(chosen(passedBefore, {}, blocked, blocklist)).toBe(PASSED);
  });

  test('is the last that passed here where the running image is blocked by a mark, not by a cooldown', () => {
    const mark = { image: digest('d4'), at: new Date(NOW).toISOString(), reason: '' };
    expect(chosen({ marks: { ...passedBefore.marks, blocked: [mark] } })).toBe(PASSED);
    expect(chosen({ marks: { ...passedBefore.marks, blocked: [{ ...mark, cooldownOnly: true }] } })).toBe(RUNNING);
    expect(chosen(passedBefore, {}, [block(digest('d4'), { cooldownOnly: true })])).toBe(RUNNING);
  });

  test('is the last that passed here where the running image has no digest', () => {
    expect(chosen({ ...passedBefore, runningImage: `${REPOSITORY}:v6` })).toBe(PASSED);
  });

  test('is what the release remembers to have passed where the object has no mark', () => {
    const remembered = { applied: PASSED, version: 'six', passed: PASSED };
    expect(choose({ runningImage: `${REPOSITORY}:v6` }, { remembered })).toEqual({
      kind: 'found',
      target: { image: PASSED, version: 'six' },
    });
    expect(
      chosen({ ...passedBefore, runningImage: `${REPOSITORY}:v6` }, { remembered: { ...remembered, passed: FROM } }),
    ).toBe(PASSED);
  });

  test('comes with the version that goes with it', () => {
    const version = (marks: Partial<typeof ownMarks>) => {
      const choice = choose({ marks: { ...noMarks, ...marks } });
      return choice.kind === 'found' ? choice.target.version : null;
    };
    expect(version({ applied: RUNNING, version: 'named' })).toBe('named');
    expect(version({ previousImage: RUNNING, previousVersion: 'before' })).toBe('before');
    expect(version({ applied: PASSED, version: 'other' })).toBe('v6.1.0');
    expect(choose({ runningImage: `${REPOSITORY}@${digest('d4')}` })).toMatchObject({ target: { version: null } });
  });

  test('is not the running image where the label that it tells itself, or that is marked, is blocked', () => {
    const blocked = [block('v6-d4d4d4')];
    expect(chosen({ ...passedBefore, runningLabel: 'v6-d4d4d4' }, {}, blocked)).toBe(PASSED);
    expect(chosen({ ...passedBefore, runningLabel: null }, {}, blocked)).toBe(RUNNING);
    expect(choose({ runningLabel: 'v6-d4d4d4' })).toMatchObject({ target: { image: RUNNING, version: 'v6-d4d4d4' } });
    const marks = { ...passedBefore.marks, applied: RUNNING, version: 'v6-d4d4d4' };
    expect(chosen({ marks }, {}, blocked)).toBe(PASSED);
    // The label is the running image's, not that of the one that passed.
    expect(chosen({ ...passedBefore, runningImage: `${REPOSITORY}:v6`, runningLabel: 'v6-d4d4d4' }, {}, blocked)).toBe(
      PASSED,
    );
  });

  test('is never a blocked one, and where there is none nothing is written', () => {
    expect(choose(passedBefore, {}, [block(digest('d4')), block(digest('c3'))])).toEqual({
      kind: 'none',
      message: `there is no image to go back to: the running image (${RUNNING}) is blocked; the last image that passed here (${PASSED}) is blocked`,
    });
    expect(chosen({ runningImage: `${REPOSITORY}:v6` })).toBe(
      `there is no image to go back to: the running image (${REPOSITORY}:v6) has no digest, and its pods do not agree on one; the last image that passed here is not known`,
    );
    const state = take(
      begin({ blocklist: [digest('a0')] }),
      'web-1',
      preflight({ marks: { ...ownMarks, passed: null } }),
    );
    // What the release remembers is the same image.
    expect(of(state).outcome).toEqual({
      phase: 'Held',
      reason: 'PreflightFailed',
      message: `NoRollbackTarget: there is no image to go back to: the running image (${FROM}) is blocked; the last image that passed here (${FROM}) is blocked; nothing was changed`,
    });
    expect(outcomes(state)).toContain('web-2 Pending');
  });

  test('is the last that passed here where a person let the gate be skipped, and only then the running one', () => {
    expect(chosen(passedBefore, { skipPreflight: true })).toBe(PASSED);
    expect(chosen({}, { skipPreflight: true })).toBe(RUNNING);
    expect(chosen({ marks: { ...noMarks, passed: TO } }, { skipPreflight: true })).toBe(RUNNING);
    expect(chosen({ runningImage: TO, marks: { ...noMarks, passed: TO } }, { skipPreflight: true })).toBe(
      `there is no image to go back to: the last image that passed here (${TO}) is the one that is being rolled; the running image (${TO}) is the one that is being rolled`,
    );
  });

  test('is never the very image that is being rolled, save where that ran here and passed the preflight', () => {
    const same = { marks: { ...noMarks, passed: TO }, runningImage: `${REPOSITORY}:v6` };
    expect(chosen(same)).toBe(
      `there is no image to go back to: the running image (${REPOSITORY}:v6) has no digest, and its pods do not agree on one; the last image that passed here (${TO}) is the one that is being rolled`,
    );
    const verify = { item: item('web-1', { action: 'verify' }) };
    const before = { marks: { ...noMarks, applied: TO, previousImage: TO, passed: PASSED } };
    expect(chosen(before, verify)).toBe(PASSED);
  });

  test('is what was recorded before it for an item that only verifies', () => {
    const verify = { item: item('web-1', { action: 'verify', from: TO }), skipPreflight: true };
    expect(chosen({ marks: { ...noMarks, applied: TO, previousImage: RUNNING, passed: PASSED } }, verify)).toBe(
      RUNNING,
    );
    expect(chosen({ marks: { ...noMarks, applied: TO, passed: PASSED } }, verify)).toBe(PASSED);
    expect(chosen({ marks: { ...noMarks, applied: RUNNING, previousImage: PASSED } }, verify)).toBe(RUNNING);
    const remembered = { applied: PASSED, version: null, passed: null };
    expect(chosen({ marks: noMarks }, { ...verify, remembered })).toBe(PASSED);
    expect(chosen({ marks: noMarks }, verify)).toBe(
      'there is no image to go back to: the image recorded before it is not known; the last image that passed here is not known',
    );
  });
});

describe('the commands that people are shown', () => {
  const address = { name: 'db', cluster: 'default', namespace: 'shop', workload: 'db', container: 'app' };

  test('are exact for the kind of the workload', () => {
    expect(kubectlCommands({ ...address, kind: 'StatefulSet' }, FROM)).toEqual([
      'kubectl -n shop rollout status statefulset/db',
      'kubectl -n shop describe statefulset/db',
      'kubectl -n shop get pods -o wide',
      'kubectl -n shop logs statefulset/db -c app --previous',
      `kubectl -n shop set image statefulset/db app=${FROM}`,
    ]);
    expect(kubectlCommands({ ...address, kind: 'DaemonSet' }, null)).toEqual([
      'kubectl -n shop rollout status daemonset/db',
      'kubectl -n shop describe daemonset/db',
      'kubectl -n shop get pods -o wide',
      'kubectl -n shop logs daemonset/db -c app --previous',
    ]);
  });

  test('name the cluster where it is not the default one', () => {
    expect(lookAt({ ...address, kind: 'DaemonSet', cluster: 'west' }, null)).toMatch(
      /^look at it \(in cluster west\):\n {2}kubectl -n shop rollout status daemonset\/db\n/,
    );
    expect(lookAt({ ...address, kind: 'DaemonSet' }, null)).toMatch(/^look at it:\n/);
  });
});
