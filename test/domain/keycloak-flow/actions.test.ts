import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  actionNames,
  parseAction,
  type ActionOf,
  type KeycloakFlowAction,
} from '../../../src/domain/keycloak-flow/actions.ts';
import { recordRefusal } from '../../../src/domain/core/record-refusal.ts';
import { applyAction, whyRefused } from '../../../src/domain/keycloak-flow/apply-action.ts';
import { needsVerification } from '../../../src/domain/core/approver.ts';
import { approvalToVerify } from '../../../src/domain/keycloak-flow/apply-approval.ts';
import { readBindSwitch } from '../../../src/domain/keycloak-flow/bind-switch.ts';
import { read } from '../../../src/domain/core/verdict.ts';
import { finishRun } from '../../../src/domain/keycloak-flow/finish-run.ts';
import { nextRunMs } from '../../../src/domain/keycloak-flow/next-run.ts';
import { newRun } from '../../../src/domain/keycloak-flow/run.ts';
import { keycloakFlowStatus } from '../../../src/domain/keycloak-flow/status.ts';
import { waitingOf } from '../../../src/domain/keycloak-flow/waiting.ts';
import { Simulation } from './simulation.ts';
import { exampleInput, HOUR, unread } from './world.ts';

// Made once by ssh-keygen of OpenSSH 9.2.
const { keys, signatures } = JSON.parse(
  readFileSync(new URL('../../unit/approval/signatures.json', import.meta.url), 'utf8'),
) as { keys: Record<string, { key: string }>; signatures: Record<string, string> };
const approvers = [{ name: 'ana', key: keys['ed25519']?.key ?? '' }];

function pendingFlow(overrides: ConstructorParameters<typeof Simulation>[0] = {}): Simulation {
  const s = new Simulation(overrides);
  s.flow();
  return s;
}

function approval(s: Simulation, more: Record<string, unknown> = {}): ActionOf<'approve'> {
  const { pending } = s.state;
  const parsed = parseAction('approve', {
    by: 'ana',
    candidate: pending?.offer.candidate,
    plan: pending?.offerHash,
    ...more,
  });
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.action as ActionOf<'approve'>;
}

describe('an action off the wire', () => {
  test('is read with its defaults', () => {
    expect(parseAction('rollback', { by: ' ana ' })).toEqual({
      ok: true,
      action: { action: 'rollback', by: 'ana', reason: '' },
    });
    expect(parseAction('runNow', { by: 'ana' })).toMatchObject({ action: { noBind: false } });
  });

  test.each<[KeycloakFlowAction['action'], unknown]>([
    ['rollback', undefined],
    ['rollback', { by: ' ' }],
    ['rollback', { by: 'ana', to: 'browser' }],
    ['approve', { by: 'ana', candidate: 'x' }],
    ['approve', { by: 'ana', plan: '0123456789' }],
    ['approve', { by: 'ana', candidate: 'x', plan: 'xyz' }],
    ['approve', { by: 'ana', candidate: 'x', plan: '0123456789', verifiedBy: 'ana' }],
    ['setMode', { by: 'ana', mode: 'enforce' }],
    ['applySpec', { by: 'ana', spec: { mode: 'Enforce' } }],
  ])('%s is refused as %j', (name, payload) => {
    expect(parseAction(name, payload)).toMatchObject({
      ok: false,
      message: expect.stringMatching(new RegExp(`^${name} refused: `)) as string,
    });
  });

  test('a spec is checked in full, as written and as it travels', () => {
    const s = new Simulation();
    const written = { desired: exampleInput(), interval: '15m' };
    for (const spec of [written, s.state.spec]) expect(parseAction('applySpec', { by: 'ana', spec }).ok).toBe(true);
    const broken = exampleInput();
    broken.browserFlow = 'nowhere';
    expect(parseAction('applySpec', { by: 'ana', spec: { desired: broken } })).toMatchObject({
      message: expect.stringMatching(/spec\.desired\.browserFlow: "nowhere" is not declared/) as string,
    });
  });

  test.each([
    ['by', 'ana\u001b[2J'],
    ['by', 'ana\nben'],
    ['reason', 'look\u0007'],
    ['reason', '\u009b31m'],
  ])('control characters in %s are refused: they steer the terminal of whoever reads them', (field, text) => {
    expect(parseAction('rollback', { by: 'ana', [field]: text })).toMatchObject({
      ok: false,
      message: expect.stringContaining('control characters') as string,
    });
    expect(parseAction('rollback', { by: 'ana', reason: 'two\nlines' })).toMatchObject({ ok: true });
  });

  test('each has a name', () => {
    expect(actionNames).toContain('liftHold');
  });
});

describe('an approval with approvers', () => {
  test('is to be verified, and counts as whoever signed', () => {
    const s = pendingFlow({ approvers });
    const signature = signatures['ed25519-plan'] ?? Object.values(signatures)[0] ?? '';
    const action = approval(s, { by: 'ben', signature });
    expect(needsVerification(s.state, action)).toBe(true);
    expect(needsVerification(s.state, approval(s))).toBe(false);
    const verified = { ...action, verifiedBy: 'ana', signedWith: 'SHA256:x' };
    expect(needsVerification(s.state, verified)).toBe(false);
    const answer = applyAction(s.state, verified, s.now);
    expect(answer).toMatchObject({
      ok: true,
      record: expect.stringMatching(/signed with SHA256:x, sent by ben$/) as string,
    });
    if (answer.ok) expect(answer.state.approval?.by).toBe('ana');
  });

  test('is refused before anything is verified where it is about nothing that waits', () => {
    const s = pendingFlow({ approvers });
    expect(approvalToVerify(s.state, approval(s, { plan: '0123456789', signature: 'x' }))).toMatchObject({
      message: expect.stringMatching(/has changed/) as string,
    });
    expect(approvalToVerify(s.state, approval(s, { signature: 'x' }))).toHaveProperty('message');
  });

  test('is verified over the whole hash', () => {
    const s = pendingFlow({ approvers });
    const signature = Object.values(signatures).find(
      (armored) => 'planHash' in approvalToVerify(s.state, approval(s, { signature: armored })),
    );
    expect(signature).toBeDefined();
    expect(
      approvalToVerify(s.state, approval(s, { signature, plan: s.state.pending?.offerHash.slice(0, 20) })),
    ).toMatchObject({
      planHash: s.state.pending?.offerHash,
    });
  });
});

describe('what a person asks for', () => {
  test('is kept as evidence, with who and why', () => {
    const s = pendingFlow();
    s.act('pause', { reason: 'maintenance' });
    expect(s.state.evidence.at(-1)).toMatchObject({
      kind: 'decision',
      by: 'ana',
      message: expect.stringMatching(/: maintenance$/) as string,
    });
    expect(recordRefusal(s.state, 'no', s.now).evidence.at(-1)).toMatchObject({ outcome: 'refused' });
  });

  test('is refused without changing anything, by validators too', () => {
    const s = pendingFlow();
    const parsed = parseAction('liftHold', { by: 'ana' });
    if (!parsed.ok) throw new Error(parsed.message);
    expect(whyRefused(s.state, parsed.action, s.now)).toMatch(/binding is not held/);
    expect(whyRefused(s.state, approval(s), s.now)).toBeNull();
    expect(s.state.approval).toBeNull();
  });

  test('a rollback that is still to be carried out is not lifted', () => {
    const s = pendingFlow();
    s.act('rollback');
    expect(s.act('liftHold')).toMatch(/the rollback of ana is still to be carried out/);
  });

  test('in Shadow a hold is not lifted, since it stands in the realm', () => {
    const s = pendingFlow();
    s.act('rollback');
    s.flow();
    s.act('setMode', { mode: 'Shadow' });
    expect(s.act('liftHold')).toMatch(/set-mode keycloakflow\/shop-login Enforce/);
  });

  test('a spec of another realm is another KeycloakFlow', () => {
    const s = pendingFlow();
    const other = exampleInput();
    other.realm = 'other';
    expect(s.act('applySpec', { spec: { ...s.state.spec, desired: other } })).toMatch(
      /give the other realm a KeycloakFlow of its own/,
    );
    expect(s.act('applySpec', { spec: s.state.spec })).toMatch(/that it has already/);
  });

  test.each([true, false])('a new spec whose run is to bind nothing: %s', (noBind) => {
    const s = pendingFlow();
    const parsed = parseAction('applySpec', { by: 'ana', spec: { ...s.state.spec, suspend: true }, noBind });
    if (!parsed.ok) throw new Error(parsed.message);
    expect(applyAction(s.state, parsed.action, s.now)).toMatchObject({ ok: true, effect: 'run', noBind });
  });

  test('a new spec that changes what may be written says from what to what', () => {
    const s = pendingFlow();
    const spec = { ...s.state.spec, mode: 'Shadow', suspend: true, interval: '5m' };
    expect(s.act('applySpec', { spec })).toBe(
      'applies a new spec: mode Shadow, was Enforce; suspend true, was false; interval',
    );
  });

  test('only what waits for an approval is turned down', () => {
    const s = pendingFlow();
    s.bindSwitch = 'false';
    s.flow();
    const { pending } = s.state;
    expect(s.act('reject', { candidate: pending?.offer.candidate, plan: pending?.offerHash })).toMatch(
      /waits for no approval \(SwitchedOff\)/,
    );
  });

  test.each<[string, KeycloakFlowAction['action'], Record<string, unknown>, boolean]>([
    ['a rollback', 'rollback', {}, true],
    ['a pause', 'pause', {}, true],
    ['another mode', 'setMode', { mode: 'Observe' }, true],
    ['the same mode', 'setMode', { mode: 'Enforce' }, false],
    ['the end of its ownership', 'releaseOwnership', {}, true],
    ['a run that is to bind nothing', 'runNow', { noBind: true }, true],
    ['a run', 'runNow', {}, false],
    ['a retry', 'retry', {}, false],
  ])('%s calls off what a run is doing meanwhile, where it was decided without it', (_, name, payload, callsOff) => {
    const s = pendingFlow();
    const parsed = parseAction(name, { by: 'ana', ...payload });
    if (!parsed.ok) throw new Error(parsed.message);
    expect(applyAction(s.state, parsed.action, s.now)).toMatchObject({ ok: true, callsOff });
  });

  test('another spec calls off what a run is doing, and so does a no; a yes does not', () => {
    const s = pendingFlow();
    const { desired, ...rest } = s.state.spec;
    const spec = { ...rest, desired, suspend: true };
    const apply = parseAction('applySpec', { by: 'ana', spec });
    if (!apply.ok) throw new Error(apply.message);
    expect(applyAction(s.state, apply.action, s.now)).toMatchObject({ ok: true, callsOff: true });
    const { pending } = s.state;
    const about = { by: 'ana', candidate: pending?.offer.candidate, plan: pending?.offerHash };
    const no = parseAction('reject', about);
    if (!no.ok) throw new Error(no.message);
    expect(applyAction(s.state, no.action, s.now)).toMatchObject({ ok: true, callsOff: true });
    expect(applyAction(s.state, approval(s), s.now)).toMatchObject({ ok: true, callsOff: false });
  });

  test('its ownership is not released while a rollback is still to be carried out', () => {
    const s = pendingFlow();
    s.act('rollback');
    expect(s.act('releaseOwnership')).toContain('the rollback of ana is still to be carried out');
    s.flow();
    expect(s.act('releaseOwnership')).toBe('leaves the realm as it is and ends');
  });

  test('a run that was called off says nothing of the realm, and what it wrote is told all the same', () => {
    const s = pendingFlow();
    const run = { ...newRun('r', s.now), calledOff: true, events: [{ what: 'LostEdit', message: 'theirs' }] as const };
    const { state, notifications } = finishRun(s.state, run, s.now);
    expect({ ...state, told: {} }).toEqual({ ...s.state, told: {} });
    expect(notifications.map(({ what }) => what)).toEqual(['LostEdit']);
  });

  test('a mode, a pause and a resume say what they came to', () => {
    const s = pendingFlow();
    expect(s.act('setMode', { mode: 'Enforce' })).toMatch(/which it was already/);
    expect(s.act('setMode', { mode: 'Observe' })).toBe('sets mode Observe, was Enforce');
    expect(s.act('resume')).toBe('is not paused');
    s.act('pause');
    expect(s.act('pause')).toBe('is already paused by ana');
    expect(s.act('runNow', { noBind: true })).toBe('runs now, and binds nothing');
    expect(s.act('releaseOwnership')).toBe('leaves the realm as it is and ends');
  });
});

describe('the bind switch', () => {
  test.each([
    ['true', 'true'],
    ['false', 'false'],
    ['true\n', 'true'],
    ['false\r\n', 'false'],
    [null, 'absent'],
  ])('%j is %s', (text, value) => {
    expect(readBindSwitch(read(text), 'x')).toEqual({ kind: 'read', value });
  });

  test.each(['', '\n', 'True', 'yes', '"true"', ' true', 'true ', '1', 'truefalse', 'true\nfalse'])(
    '%j is none',
    (text) => {
      expect(readBindSwitch(read(text), 'ConfigMap sso/login')).toMatchObject({
        kind: 'invalid',
        message: expect.stringMatching(/ConfigMap sso\/login/) as string,
      });
    },
  );

  test('that could not be read is neither absent nor false', () => {
    expect(readBindSwitch(unread('denied'), 'x')).toMatchObject({ kind: 'unmeasured', why: 'denied' });
  });
});

describe('what is waited for', () => {
  test('is said with who can lift it and what comes next', () => {
    const s = new Simulation();
    expect(waitingOf(s.state)).toMatchObject({ for: 'the first pass', who: 'time' });
    s.flow();
    expect(waitingOf(s.state)).toMatchObject({
      who: 'person',
      next: expect.stringMatching(
        /^holdfast approve keycloakflow\/shop-login --candidate .*; or holdfast reject keycloakflow\/shop-login --candidate .* --plan sha256:/,
      ) as string,
    });
    s.bindSwitch = 'false';
    s.flow();
    expect(waitingOf(s.state)).toMatchObject({ next: expect.stringMatching(/bind switch to "true"/) as string });
    s.bindSwitch = 'maybe';
    s.flow();
    expect(waitingOf(s.state)).toMatchObject({
      who: 'person',
      for: expect.stringMatching(/the bind switch \(ConfigMap sso\/login, key bind\) says "maybe"/) as string,
    });
    s.bindSwitch = null;
    s.unreadable = { realm: unread('timeout') };
    s.flow();
    expect(waitingOf(s.state)).toMatchObject({ who: 'outside' });
    s.unreadable = {};
    s.act('rollback');
    s.act('setMode', { mode: 'Shadow' });
    expect(waitingOf(s.state)).toMatchObject({
      for: expect.stringMatching(/the rollback of ana: mode Shadow writes nothing/) as string,
    });
    s.act('setMode', { mode: 'Enforce' });
    s.flow();
    expect(waitingOf(s.state)).toMatchObject({ next: 'holdfast lift-hold keycloakflow/shop-login' });
  });

  test('while it is paused, is that somebody resumes it', () => {
    const s = pendingFlow();
    s.bindSwitch = 'true';
    s.act('pause');
    expect(s.flow()).toBe('PendingBind Mode');
    expect(waitingOf(s.state)).toMatchObject({ who: 'person', next: 'holdfast resume keycloakflow/shop-login' });
    s.act('setMode', { mode: 'Shadow' });
    s.flow();
    expect(waitingOf(s.state)?.next).toBe('holdfast set-mode keycloakflow/shop-login Enforce');
  });

  test('right after the mode became Enforce, is the pass that follows', () => {
    const s = new Simulation({ mode: 'Shadow' });
    s.flow();
    expect(waitingOf(s.state)).toMatchObject({
      who: 'person',
      next: 'holdfast set-mode keycloakflow/shop-login Enforce',
    });
    s.act('setMode', { mode: 'Enforce' });
    expect(waitingOf(s.state)).toMatchObject({ who: 'time', next: 'the next pass is made in Enforce' });
  });

  test('after a no, is a yes after all', () => {
    const s = pendingFlow();
    const { pending } = s.state;
    s.act('reject', { candidate: pending?.offer.candidate, plan: pending?.offerHash });
    s.flow();
    expect(waitingOf(s.state)?.next).toMatch(
      /^holdfast approve keycloakflow\/shop-login [^;]*; or holdfast retry keycloakflow\/shop-login$/,
    );
  });

  test('while a rollback could not be sent, is the next try, which comes soon', () => {
    const s = pendingFlow();
    s.act('rollback');
    expect(nextRunMs(s.state, s.now)).toBe(30_000);
    s.state = { ...s.state, rollback: null };
    expect(nextRunMs(s.state, s.now + HOUR)).toBe(s.state.spec.interval);
  });

  test('is nothing once the realm is as declared', () => {
    const s = new Simulation();
    s.bindSwitch = 'true';
    s.flow();
    s.flow();
    expect(waitingOf(s.state)).toBeNull();
    expect(keycloakFlowStatus(s.state, s.now)).toMatchObject({ phase: 'Converged', waiting: null });
  });
});
