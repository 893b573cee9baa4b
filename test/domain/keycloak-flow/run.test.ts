import { describe, expect, test } from 'vitest';
import { conditionFaults } from '../../../src/domain/core/conditions.ts';
import { nextRunMs } from '../../../src/domain/keycloak-flow/next-run.ts';
import { exitCodeOf, passResult, runOutcome } from '../../../src/domain/keycloak-flow/passes.ts';
import { keycloakFlowStatus } from '../../../src/domain/keycloak-flow/status.ts';
import { statusText } from '../../../src/domain/keycloak-flow/status-text.ts';
import { edit, shownProof, Simulation } from './simulation.ts';
import { exampleInput, HOUR, unread } from './world.ts';

/** A simulation whose candidate is bound, by the switch. */
function boundBySwitch(): Simulation {
  const simulation = new Simulation();
  simulation.bindSwitch = 'true';
  expect(simulation.flow()).toBe('Bound Bound');
  return simulation;
}

/** A KeycloakFlow whose spec names no probe client. */
function withoutProbe(): Simulation {
  const simulation = new Simulation();
  const { probe: _, ...spec } = simulation.state.spec;
  simulation.state = { ...simulation.state, spec };
  return simulation;
}

describe('an empty realm', () => {
  test('comes from PendingBind over an approval to Bound, and then to Converged without a write', () => {
    const s = new Simulation();
    expect(s.outcomes()).toEqual([
      'policy Converged AsDeclared',
      'requiredAction Converged AsDeclared',
      'flow PendingBind AwaitingApproval',
    ]);
    expect(s.notifications).toEqual(['warning PendingBind']);
    expect(s.bound).toBe('browser');
    expect(s.approve()).toMatch(/^approves "browser-mfa-[0-9a-f]{12}" in place of "browser"/);
    expect(s.flow()).toBe('Bound Bound');
    expect(s.bound).toBe(s.candidate());
    const before = s.keycloak.writes.length;
    expect(s.outcomes()).toEqual([
      'policy Converged AsDeclared',
      'requiredAction Converged AsDeclared',
      'flow Converged AsDeclared',
    ]);
    expect(s.keycloak.writes).toHaveLength(before);
    expect(s.state.binds).toBe(1);
  });

  test('is bound at once where the switch says so and the proof passed', () => {
    const s = boundBySwitch();
    expect(s.bound).toBe(s.candidate());
    expect(s.notifications).toEqual(['info Bound']);
    expect(s.binds).toMatchObject([{ by: 'the bind switch', from: 'browser' }]);
  });

  test.each(['Shadow', 'Observe'] as const)('in %s nothing is written, whatever the switch says', (mode) => {
    const s = new Simulation({ mode });
    s.bindSwitch = 'true';
    edit(s, { webAuthnPolicyPasswordlessRpId: 'x' });
    s.keycloak.requiredActions = s.keycloak.requiredActions.map((a) => ({
      ...a,
      defaultAction: a.alias === 'webauthn-register-passwordless',
    }));
    expect(s.outcomes()).toEqual(['policy Problem Drift', 'requiredAction Problem Drift', 'flow Problem Drift']);
    expect(s.keycloak.writes).toEqual([]);
    expect(s.message().includes('Enforce would build')).toBe(mode === 'Shadow');
  });
});

describe('a mode that was lowered', () => {
  test('before the bind leaves an approved candidate waiting', () => {
    const s = new Simulation();
    s.flow();
    s.approve();
    s.act('setMode', { mode: 'Shadow' });
    const before = s.keycloak.writes.length;
    expect(s.flow()).toBe('PendingBind Mode');
    expect(s.message()).toMatch(/is verified; Enforce would bind it/);
    expect([s.keycloak.writes.length, s.binds.length]).toEqual([before, 0]);
    s.act('setMode', { mode: 'Enforce' });
    expect(s.flow()).toBe('Bound Bound');
  });
});

describe('the bind switch', () => {
  test('R12 "false" binds nothing, also after an earlier bind: a rollback by hand sticks', () => {
    const s = boundBySwitch();
    edit(s, { browserFlow: 'browser' });
    s.bindSwitch = 'false';
    expect(s.flow()).toBe('PendingBind SwitchedOff');
    expect(s.bound).toBe('browser');
    expect(s.flow()).toBe('PendingBind SwitchedOff');
    expect(s.bound).toBe('browser');
  });

  test('R13 "false" says WOULD BIND, and approvals are refused', () => {
    const s = new Simulation();
    s.bindSwitch = 'false';
    expect(s.flow()).toBe('PendingBind SwitchedOff');
    expect(s.message()).toMatch(/^WOULD BIND "browser-mfa-/);
    expect(s.approve()).toMatch(/the bind switch is "false", which no approval outranks/);
    expect(s.flow()).toBe('PendingBind SwitchedOff');
    expect(s.binds).toEqual([]);
  });

  test('R13 turned to "false" after an approval and before the bind, nothing is bound', () => {
    const s = new Simulation();
    s.flow();
    s.approve();
    s.bindSwitch = 'false';
    expect(s.flow()).toBe('PendingBind SwitchedOff');
    expect(s.binds).toEqual([]);
  });

  test('R13 turned between decision and PUT, nothing is bound', () => {
    const s = new Simulation();
    s.bindSwitch = 'true';
    const execute = s.execute.bind(s);
    s.execute = (command) => {
      if (command.do === 'bind') s.bindSwitch = 'false';
      return execute(command);
    };
    expect(s.flow()).toBe('Problem SwitchTurned');
    expect(s.bound).toBe('browser');
    expect(s.binds).toEqual([]);
  });

  test('R14 absent is not true: a candidate waits', () => {
    const s = new Simulation();
    s.bindSwitch = null;
    expect(s.flow()).toBe('PendingBind AwaitingApproval');
    expect(s.flow()).toBe('PendingBind AwaitingApproval');
    expect(s.bound).toBe('browser');
  });

  test.each(['yes', 'True', 'TRUE', '"true"', '', 'false ', 'true\n\n', '0'])(
    'R15 %j stops the whole run before any write',
    (value) => {
      const s = new Simulation();
      s.bindSwitch = value;
      edit(s, { webAuthnPolicyPasswordlessRpId: 'x' });
      expect(s.outcomes()).toEqual([
        'policy Refused InvalidSwitch',
        'requiredAction Refused InvalidSwitch',
        'flow Refused InvalidSwitch',
      ]);
      expect(s.keycloak.writes).toEqual([]);
      expect(exitCodeOf(s.state.lastRun?.outcome ?? 'Converged')).toBe(2);
    },
  );

  test('may end with a line feed, as files do', () => {
    const s = new Simulation();
    s.bindSwitch = 'true\n';
    expect(s.flow()).toBe('Bound Bound');
  });

  test.each(['denied', 'timeout', 'unparsed'] as const)(
    'that could not be read (%s) leaves everything as it is',
    (why) => {
      const s = new Simulation();
      edit(s, { webAuthnPolicyPasswordlessRpId: 'x' });
      s.unreadable = { switch: unread(why) };
      expect(s.outcomes()).toEqual([
        'policy Undetermined SwitchUnread',
        'requiredAction Undetermined SwitchUnread',
        'flow Undetermined SwitchUnread',
      ]);
      expect(s.keycloak.writes).toEqual([]);
    },
  );

  test('"true" keeps asserting, and stops and pages when others bind it away twice within a day', () => {
    const s = boundBySwitch();
    edit(s, { browserFlow: 'browser' });
    expect(s.flow()).toBe('Bound Bound');
    edit(s, { browserFlow: 'browser' });
    expect(s.flow()).toBe('Problem BoundAway');
    expect(s.notifications).toEqual(['page BoundAway']);
    expect(s.bound).toBe('browser');
    s.now += 48 * HOUR;
    expect(s.flow()).toBe('Problem BoundAway');
    expect(s.notifications).toEqual([]);
    expect(s.act('retry')).toMatch(/binding goes on/);
    expect(s.flow()).toBe('Bound Bound');
  });

  test('bound away once a day is put right each time', () => {
    const s = boundBySwitch();
    for (let day = 0; day < 4; day++) {
      s.now += 25 * HOUR;
      edit(s, { browserFlow: 'browser' });
      expect(s.flow()).toBe('Bound Bound');
    }
  });

  test('that others bound it away is known after the workflow was ended', () => {
    const s = boundBySwitch();
    edit(s, { browserFlow: 'browser' });
    expect(s.flow()).toBe('Bound Bound');
    s.terminate();
    edit(s, { browserFlow: 'browser' });
    expect(s.flow()).toBe('Problem BoundAway');
  });

  test('a run that is told not to bind narrows it', () => {
    const s = new Simulation();
    s.bindSwitch = 'true';
    expect(s.flow({ noBind: true })).toBe('PendingBind NoBind');
    expect(s.bound).toBe('browser');
    expect(s.flow()).toBe('Bound Bound');
  });
});

describe('an approval', () => {
  test('binds once, and what was bound away afterwards is not bound again', () => {
    const s = new Simulation();
    s.flow();
    s.approve();
    expect(s.flow()).toBe('Bound Bound');
    edit(s, { browserFlow: 'browser' });
    expect(s.flow()).toBe('PendingBind AwaitingApproval');
    expect(s.bound).toBe('browser');
    expect(s.binds).toHaveLength(1);
  });

  test('is spent by the bind that it let happen, also where the worker did not live to hear of it', () => {
    const s = new Simulation();
    s.flow();
    s.approve();
    const execute = s.execute.bind(s);
    s.execute = (command) => {
      const result = execute(command);
      if (command.do !== 'bind') return result;
      return { did: 'bind', command, outcome: unread('timeout') };
    };
    expect(s.flow()).toBe('Undetermined WriteUnknown');
    expect(s.bound).toBe(s.candidate());
    s.execute = execute;
    edit(s, { browserFlow: 'browser' });
    expect(s.flow()).toBe('PendingBind AwaitingApproval');
    expect(s.bound).toBe('browser');
  });

  test('is good for nothing after a rollback: the same hash, or a signature over it, cannot be sent once more', () => {
    const s = new Simulation();
    s.flow();
    const { candidate = '' } = s.state.pending?.offer ?? {};
    const plan = s.state.pending?.offerHash;
    s.act('approve', { candidate, plan });
    expect(s.flow()).toBe('Bound Bound');
    s.act('rollback');
    s.flow();
    s.act('liftHold');
    expect(s.flow()).toBe('PendingBind AwaitingApproval');
    expect(s.state.pending?.offer).toMatchObject({ candidate, from: 'browser', proof: 'passed' });
    expect(s.act('approve', { candidate, plan })).toMatch(/what is offered has changed/);
    expect(s.approve()).toMatch(/^approves/);
    expect(s.flow()).toBe('Bound Bound');
  });

  test('is spent also where an older copy of the realm was written over all that says so', () => {
    const s = new Simulation();
    s.flow();
    const older = { browserFlow: 'browser', attributes: s.keycloak.realm.attributes };
    s.approve();
    const execute = s.execute.bind(s);
    s.execute = (command) => {
      const result = execute(command);
      return command.do === 'bind' ? { did: 'bind', command, outcome: unread('timeout') } : result;
    };
    expect(s.flow()).toBe('Undetermined WriteUnknown');
    s.execute = execute;
    expect(s.flow()).toBe('Converged AsDeclared');
    edit(s, older);
    expect(s.flow()).toBe('PendingBind AwaitingApproval');
    expect(s.bound).toBe('browser');
  });

  test('covers one candidate, what it replaces and what was shown of it, and nothing else', () => {
    const s = new Simulation();
    s.flow();
    const offered = s.state.pending;
    expect(s.act('approve', { candidate: 'browser', plan: offered?.offerHash })).toMatch(/is not what waits/);
    expect(s.act('approve', { candidate: offered?.offer.candidate, plan: '0123456789' })).toMatch(
      /what is offered has changed/,
    );
    // Somebody binds another flow: what was looked at is no longer what would be replaced.
    s.approve();
    edit(s, { browserFlow: 'direct grant' });
    expect(s.flow()).toBe('PendingBind AwaitingApproval');
    expect(s.state.pending?.offerHash).not.toBe(offered?.offerHash);
  });

  test('that was turned down is not asked for again, until it is taken back', () => {
    const s = new Simulation();
    s.flow();
    const { pending } = s.state;
    expect(
      s.act('reject', { candidate: pending?.offer.candidate, plan: pending?.offerHash, reason: 'not today' }),
    ).toMatch(/^rejects/);
    expect(s.flow()).toBe('PendingBind Rejected');
    expect(s.notifications).toEqual([]);
    expect(s.approve()).toMatch(/^approves/);
    expect(s.flow()).toBe('Bound Bound');
  });

  test('of a flow without a shown login has to say so', () => {
    const s = withoutProbe();
    expect(s.flow()).toBe('PendingBind AwaitingApproval');
    expect(s.approve()).toMatch(/no login was shown.*--without-proof/);
    expect(s.approve({ withoutProof: true })).toMatch(/knowing that no login was shown/);
    expect(s.flow()).toBe('Bound Bound');
    expect(s.state.evidence.some((e) => e.kind === 'override')).toBe(true);
  });

  test('is asked for even with the switch on, where no login was shown', () => {
    const s = withoutProbe();
    s.bindSwitch = 'true';
    expect(s.flow()).toBe('PendingBind AwaitingApproval');
    expect(s.bound).toBe('browser');
    s.approve({ withoutProof: true });
    expect(s.flow()).toBe('Bound Bound');
    // With the switch on it keeps being asserted.
    edit(s, { browserFlow: 'browser' });
    expect(s.flow()).toBe('Bound Bound');
  });

  test('with approvers needs a signature', () => {
    const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAYiNh1qZFHCyUWV6cYRwVlEb0uUvDLn1BTx8+mJ5y1N ana';
    const s = new Simulation({ approvers: [{ name: 'ana', key }] });
    s.flow();
    expect(s.approve()).toMatch(/this KeycloakFlow has approvers.*ssh-keygen/);
  });
});

describe('a login proof', () => {
  test('that failed never binds, whatever anybody says', () => {
    const s = new Simulation();
    s.bindSwitch = 'true';
    s.proof = { kind: 'failed', reason: 'LoginWithoutFactor', message: 'a wrong password logged in' };
    expect(s.flow()).toBe('Problem ProofFailed');
    expect(s.notifications).toEqual(['page ProofFailed']);
    expect(s.approve({ withoutProof: true })).toMatch(/no candidate waits/);
    s.bindSwitch = null;
    expect(s.flow()).toBe('Problem ProofFailed');
    expect(s.bound).toBe('browser');
    s.proof = shownProof;
    expect(s.flow()).toBe('Problem ProofFailed');
    s.act('retry');
    expect(s.flow()).toBe('PendingBind AwaitingApproval');
  });

  test('is made again by a retry that comes while one is under way, with what was put right meanwhile', () => {
    const s = new Simulation();
    const execute = s.execute.bind(s);
    const failed = { kind: 'failed', reason: 'LoginRefused', message: 'the old password' } as const;
    let proofs = 0;
    s.execute = (command) => {
      if (command.do !== 'prove') return execute(command);
      proofs += 1;
      s.proof = proofs === 1 ? failed : shownProof;
      if (proofs === 1) {
        s.now += 1_000;
        s.act('retry');
      }
      return execute(command);
    };
    expect(s.flow()).toBe('Problem ProofFailed');
    expect(s.flow()).toBe('PendingBind AwaitingApproval');
    expect(s.state.pending?.offer.proof).toBe('passed');
    expect(s.flow()).toBe('PendingBind AwaitingApproval');
    expect(proofs).toBe(2);
  });

  test('that failed is not outranked by a spec without probe', () => {
    const s = new Simulation();
    s.proof = { kind: 'failed', reason: 'LoginWithoutFactor', message: 'a wrong password logged in' };
    expect(s.flow()).toBe('Problem ProofFailed');
    const { probe: _, ...spec } = s.state.spec;
    s.state = { ...s.state, spec };
    expect(s.flow()).toBe('Problem ProofFailed');
    expect(s.approve({ withoutProof: true })).toMatch(/no candidate waits/);
    s.act('retry');
    expect(s.flow()).toBe('PendingBind AwaitingApproval');
  });

  test('that was not made is tried again after an hour, and not at each pass', () => {
    const s = new Simulation();
    let proofs = 0;
    const execute = s.execute.bind(s);
    s.execute = (command) => {
      if (command.do === 'prove') proofs += 1;
      return execute(command);
    };
    s.proof = { kind: 'notMade', reason: 'NotShown', message: 'the server did not answer' };
    for (let pass = 0; pass < 9; pass++) expect(s.flow()).toBe('PendingBind AwaitingApproval');
    expect(proofs).toBe(3);
    s.proof = shownProof;
    s.now += HOUR;
    s.flow();
    expect(s.state.pending?.offer.proof).toBe('passed');
  });

  test('of one tree is none of another', () => {
    const s = new Simulation();
    s.flow();
    const before = s.state.proofs[s.candidate()];
    expect(before?.outcome.kind).toBe('passed');
    s.state = { ...s.state, proofs: { [s.candidate()]: { treeHash: 'another', outcome: shownProof, at: s.now } } };
    s.proof = { kind: 'failed', reason: 'x', message: 'y' };
    expect(s.flow()).toBe('Problem ProofFailed');
  });

  test('is not made for a candidate that somebody else built', () => {
    const s = new Simulation();
    s.flow();
    s.terminate();
    for (const flow of s.keycloak.flows) if (flow.alias === s.candidate()) flow.description = 'by hand';
    expect(s.flow()).toBe('PendingBind AwaitingApproval');
    expect(s.state.pending?.offer.proof).toBe('notMade');
  });
});

describe('a rollback', () => {
  test('holds binding and binds the previous flow in one write, and outranks the switch until it is lifted', () => {
    const s = boundBySwitch();
    const before = s.keycloak.writes.length;
    expect(s.act('rollback', { reason: 'passkeys fail' })).toBe('holds binding and binds "browser" again');
    expect(s.flow()).toBe('PendingBind Held');
    expect(s.bound).toBe('browser');
    expect(s.keycloak.writes.length - before).toBe(1);
    expect(s.notifications).toContain('info RolledBack');
    expect(s.flow()).toBe('PendingBind Held');
    expect(s.bound).toBe('browser');
    expect(s.approve()).toMatch(/binding is held by ana/);
    expect(s.act('liftHold')).toMatch(/lifts the hold of ana/);
    expect(s.flow()).toBe('Bound Bound');
    expect(s.bound).toBe(s.candidate());
  });

  test('lifted, is not taken for others who bound it away', () => {
    const s = boundBySwitch();
    for (let time = 0; time < 3; time++) {
      s.act('rollback');
      expect(s.flow()).toBe('PendingBind Held');
      s.act('liftHold');
      expect(s.flow()).toBe('Bound Bound');
    }
  });

  test('is known after the workflow was ended', () => {
    const s = boundBySwitch();
    s.act('rollback', { reason: 'passkeys fail' });
    s.flow();
    s.terminate();
    expect(s.flow()).toBe('PendingBind Held');
    expect(s.message()).toMatch(/held by ana: passkeys fail/);
    expect(keycloakFlowStatus(s.state, s.now)).toMatchObject({ hold: { by: 'ana' }, previous: 'browser' });
  });

  test('asked for twice does not go forth again', () => {
    const s = boundBySwitch();
    s.act('rollback');
    s.flow();
    s.act('rollback');
    s.flow();
    expect(s.bound).toBe('browser');
  });

  test('whose answer was lost is done once', () => {
    const s = boundBySwitch();
    s.act('rollback');
    s.answer = (_, answer) => (answer.kind === 'accepted' ? { kind: 'unknown', message: 'no answer' } : answer);
    s.flow();
    s.answer = (_, answer) => answer;
    expect(s.bound).toBe('browser');
    expect(s.state.rollback).not.toBeNull();
    const before = s.keycloak.writes.length;
    expect(s.flow()).toBe('PendingBind Held');
    expect(s.keycloak.writes).toHaveLength(before);
    expect(s.state.rollback).toBeNull();
  });

  test('holds from the moment on that it was asked for, also while the realm does not answer', () => {
    const s = boundBySwitch();
    edit(s, { browserFlow: 'browser' });
    s.act('rollback');
    s.answer = () => ({ kind: 'refused', message: '503' });
    expect(s.flow()).toBe('PendingBind Held');
    expect(s.bound).toBe('browser');
  });

  test('that somebody undoes by writing an older copy of the realm over it is told of, and not called converged', () => {
    const s = boundBySwitch();
    const older = { browserFlow: s.bound, attributes: s.keycloak.realm.attributes };
    s.act('rollback', { reason: 'passkeys fail' });
    expect(s.flow()).toBe('PendingBind Held');
    edit(s, older);
    const before = s.keycloak.writes.length;
    expect(s.flow()).toBe('Problem HoldLost');
    expect(s.message()).toMatch(/held by ana.*holdfast rollback keycloakflow\/shop-login.*lift-hold/);
    expect(s.notifications).toContain('page HoldLost');
    expect(keycloakFlowStatus(s.state, s.now).waiting?.next).toBe('holdfast rollback keycloakflow/shop-login');
    expect(s.keycloak.writes).toHaveLength(before);
    s.act('rollback', { reason: 'again' });
    expect(s.flow()).toBe('PendingBind Held');
    expect(s.bound).toBe('browser');
    // Or it is to stay.
    edit(s, older);
    s.act('liftHold');
    expect(s.flow()).toBe('Converged AsDeclared');
  });

  test('that is tried again and again is told of once', () => {
    const s = boundBySwitch();
    s.act('rollback');
    s.unreadable = { realm: unread('timeout') };
    const told: string[] = [];
    for (let pass = 0; pass < 3; pass++) {
      expect(s.flow()).toBe('Undetermined Unread');
      told.push(...s.notifications);
    }
    expect(told).toEqual(['page RollbackFailed']);
    s.unreadable = {};
    s.flow();
    expect(s.notifications).toContain('info RolledBack');
    expect(s.state.told).not.toHaveProperty('rollback');
  });

  test('without a way back holds, and says so aloud', () => {
    const s = new Simulation();
    s.flow();
    s.act('rollback');
    s.flow();
    expect(s.notifications).toContain('page RollbackFailed');
    expect(s.bound).toBe('browser');
    s.terminate();
    s.bindSwitch = 'true';
    expect(s.flow()).toBe('PendingBind Held');
  });

  test('that Keycloak did not answer is tried again within seconds, and paged once, each reason being kept once', () => {
    const s = boundBySwitch();
    expect(nextRunMs(s.state, s.now)).toBe(s.state.spec.interval);
    s.unreadable = { realm: unread('error') };
    s.act('rollback', { reason: 'passkeys fail' });
    const said = () => s.state.evidence.filter(({ what, kind }) => what === 'rollback' && kind === 'notVerified');
    for (let tries = 0; tries < 5; tries++) {
      s.flow();
      expect(s.notifications).toEqual(tries === 0 ? ['page RollbackFailed'] : []);
      expect(said()).toHaveLength(1);
      expect(nextRunMs(s.state, s.now)).toBe(30_000);
    }
    s.unreadable = { realm: unread('unreachable') };
    s.flow();
    expect(s.notifications).toEqual([]);
    s.unreadable = {};
    s.flow();
    expect(s.bound).toBe('browser');
    expect(s.notifications).toContain('info RolledBack');
    expect(nextRunMs(s.state, s.now)).toBe(s.state.spec.interval);
  });

  test('is looked after for some minutes: a write that was sent before it may still arrive', () => {
    const s = boundBySwitch();
    s.act('rollback');
    s.run();
    expect(s.state.rollback).toBeNull();
    expect(nextRunMs(s.state, s.now)).toBe(30_000);
    expect(nextRunMs(s.state, s.now + 299_999)).toBe(30_000);
    expect(nextRunMs(s.state, s.now + 300_000)).toBe(s.state.spec.interval);
  });

  test('that waits for Enforce is not tried at all, and one of a short interval not later than that', () => {
    const s = boundBySwitch();
    s.act('rollback');
    expect(nextRunMs({ ...s.state, spec: { ...s.state.spec, interval: 10_000 } }, s.now)).toBe(10_000);
    s.act('setMode', { mode: 'Shadow' });
    expect(nextRunMs(s.state, s.now)).toBe(s.state.spec.interval);
  });

  test('goes on while passes are paused or suspended', () => {
    for (const halt of ['pause', 'suspend']) {
      const s = boundBySwitch();
      if (halt === 'pause') s.act('pause');
      else s.state = { ...s.state, spec: { ...s.state.spec, suspend: true } };
      s.act('rollback');
      s.flow();
      // What is paused writes nothing by itself; this is what a person asked for.
      expect([halt, s.bound]).toEqual([halt, 'browser']);
    }
  });

  test('in Shadow is refused with the way out', () => {
    const s = boundBySwitch();
    s.act('setMode', { mode: 'Shadow' });
    expect(s.act('rollback')).toMatch(/mode Shadow writes nothing.*set-mode keycloakflow\/shop-login Enforce/);
    expect(s.state.hold).toBeNull();
  });
});

describe('drift', () => {
  test('R25 a correct candidate that is not bound is not converged', () => {
    const s = new Simulation();
    s.flow();
    expect(s.flow()).toBe('PendingBind AwaitingApproval');
    expect(s.message()).toMatch(/waits for an approval/);
  });

  test('R18 a bound flow as declared is left alone, whatever it is called', () => {
    const s = new Simulation();
    s.flow();
    const flow = s.keycloak.flows.find((f) => f.alias === s.candidate());
    if (flow !== undefined) flow.alias = 'bound by hand';
    edit(s, { browserFlow: 'bound by hand' });
    const before = s.keycloak.writes.length;
    s.bindSwitch = 'true';
    expect(s.flow()).toBe('Converged AsDeclared');
    expect(s.keycloak.writes).toHaveLength(before);
  });

  test('R16 with binding off a bound candidate that was edited by hand is left alone, and nothing is built beside it', () => {
    for (const value of ['false', null]) {
      const s = boundBySwitch();
      s.bindSwitch = value;
      const row = s.keycloak.readBack(s.candidate())?.rows[5]?.id ?? '';
      const execution = s.keycloak.execution(row);
      if (execution !== undefined) execution.requirement = 'REQUIRED';
      const before = [s.keycloak.writes.length, s.keycloak.flows.length];
      expect(s.flow()).toBe('Problem HandEdited');
      expect(s.message()).toMatch(
        /the bind switch is .*take the edit back, or declare it; with the bind switch "true"/,
      );
      expect([s.keycloak.writes.length, s.keycloak.flows.length]).toEqual(before);
      expect(s.bound).toBe(s.candidate());
      s.bindSwitch = 'true';
      expect(s.flow()).toBe('Bound Bound');
      expect(s.bound).toBe(s.candidate(1));
    }
  });

  test('a bound candidate that was edited by hand while binding is held says that it is held, and how that ends', () => {
    const s = boundBySwitch();
    s.act('rollback');
    s.flow();
    edit(s, { browserFlow: s.candidate() });
    const execution = s.keycloak.execution(s.keycloak.readBack(s.candidate())?.rows[5]?.id ?? '');
    if (execution !== undefined) execution.requirement = 'REQUIRED';
    expect(s.flow()).toBe('Problem HandEdited');
    expect(s.message()).toMatch(/binding is held by ana.*holdfast lift-hold keycloakflow\/shop-login/);
  });

  test('R22 the role under the key that refuses every administrator, live in the bound flow, is built anew and bound', () => {
    const s = boundBySwitch();
    for (const { config } of s.keycloak.configs.values()) {
      config['condition.evaluated.user.role'] = config['condUserRole'] ?? '';
      delete config['condUserRole'];
    }
    expect(s.flow()).toBe('Bound Bound');
    expect(s.bound).toBe(s.candidate(1));
    expect(s.flow()).toBe('Converged AsDeclared');
  });

  test('R4 H-B01 a candidate that is changed between its build and the bind is not bound', () => {
    const s = new Simulation();
    s.bindSwitch = 'true';
    const execute = s.execute.bind(s);
    s.execute = (command) => {
      if (command.do === 'bind') {
        const row = s.keycloak.readBack(s.candidate())?.rows[3]?.id ?? '';
        const execution = s.keycloak.execution(row);
        if (execution !== undefined) execution.requirement = 'DISABLED';
      }
      return execute(command);
    };
    expect(s.flow()).toBe('Problem CandidateChanged');
    expect(s.bound).toBe('browser');
    expect(s.binds).toEqual([]);
  });

  test('R4 R6 a flow of the name of a candidate that is another tree is not bound, and another is built', () => {
    const s = new Simulation();
    s.bindSwitch = 'true';
    s.keycloak.send({
      method: 'POST',
      path: '/admin/realms/shop/authentication/flows',
      body: { alias: s.candidate(), description: 'by hand' },
    });
    expect(s.flow()).toBe('Bound Bound');
    expect(s.bound).toBe(s.candidate(1));
  });

  test('another flow that is bound meanwhile stops the bind', () => {
    const s = new Simulation();
    s.bindSwitch = 'true';
    const execute = s.execute.bind(s);
    s.execute = (command) => {
      if (command.do === 'bind') edit(s, { browserFlow: 'direct grant' });
      return execute(command);
    };
    expect(s.flow()).toBe('Problem BoundMeanwhile');
    expect(s.bound).toBe('direct grant');
  });

  test('R5 R20 a build that never comes right ends after five candidates, each pass one, and is a problem each time', () => {
    const s = new Simulation();
    s.bindSwitch = 'true';
    s.answer = (request, answer) => {
      const id = (request.body as { id?: string } | undefined)?.id ?? '';
      const execution = s.keycloak.execution(id);
      if (execution !== undefined && request.method === 'PUT') execution.requirement = 'DISABLED';
      return answer;
    };
    const flows = s.keycloak.flows.length;
    const outcomes = Array.from({ length: 7 }, () => s.flow());
    expect(outcomes).toEqual([
      ...Array<string>(5).fill('Problem CandidateLeft'),
      'Problem Exhausted',
      'Problem Exhausted',
    ]);
    expect(s.keycloak.flows.length - flows).toBe(5);
    expect(s.bound).toBe('browser');
    expect(exitCodeOf(s.state.lastRun?.outcome ?? 'Converged')).toBe(1);
  });

  test('an authenticator that the server does not have is named, and nothing is begun', () => {
    const s = new Simulation();
    s.authenticators = s.authenticators.filter((id) => id !== 'auth-otp-form');
    expect(s.flow()).toBe('Problem UnknownAuthenticator');
    expect(s.message()).toMatch(/no authenticator "auth-otp-form"/);
    s.unreadable = { authenticators: unread('denied') };
    expect(s.flow()).toBe('Undetermined Unread');
    expect(s.keycloak.writes).toEqual([]);
  });

  test('H-B03 a leftover that holds an alias costs one name, and is told of', () => {
    const s = new Simulation();
    s.keycloak.flows.push({
      id: 'x',
      alias: s.candidate(),
      description: '',
      topLevel: false,
      builtIn: false,
      executions: [],
    });
    expect(s.flow()).toBe('PendingBind AwaitingApproval');
    expect(s.state.pending?.offer.candidate).toBe(s.candidate(1));
    expect(s.state.evidence.some((e) => e.message.includes('is given up'))).toBe(true);
  });

  test('a changed declaration is built beside the bound one, and the old one stays', () => {
    const s = boundBySwitch();
    const old = s.bound;
    const input = exampleInput();
    input.authenticatorConfig['conditional-otp-platform-admin'] = { condUserRole: 'admins', negate: 'false' };
    expect(s.act('applySpec', { spec: { ...s.state.spec, desired: input } })).toMatch(/applies a new spec: desired/);
    expect(s.flow()).toBe('Bound Bound');
    expect(s.bound).not.toBe(old);
    expect(s.keycloak.readBack(old)).not.toBeNull();
    expect(s.writes.some((write) => write.startsWith('DELETE'))).toBe(false);
  });
});

describe('the passes', () => {
  test('R36 a failing policy pass stops none of the others', () => {
    const s = new Simulation();
    s.bindSwitch = 'true';
    edit(s, { webAuthnPolicyPasswordlessRpId: 'x' });
    s.answer = (request, answer) =>
      request.path === '/admin/realms/shop' && s.bound === 'browser' && s.writes.length === 1
        ? { kind: 'refused', message: '500' }
        : answer;
    const outcomes = s.outcomes();
    expect(outcomes[0]).toMatch(/^policy Problem/);
    expect(outcomes.slice(1)).toEqual(['requiredAction Converged AsDeclared', 'flow Bound Bound']);
    expect(s.state.lastRun?.outcome).toBe('Problem');
  });

  test('R36 an unreadable flow stops none of the others', () => {
    const s = new Simulation();
    edit(s, { webAuthnPolicyPasswordlessRpId: 'x' });
    s.unreadable = { boundFlow: unread('denied') };
    expect(s.outcomes()).toEqual([
      'policy Converged Repaired',
      'requiredAction Converged AsDeclared',
      'flow Undetermined Unread',
    ]);
  });

  test.each(['boundFlow', 'flows', 'candidates', 'protected'] as const)(
    'R21 where %s could not be read, no flow is built or bound',
    (what) => {
      for (const why of ['denied', 'missing', 'timeout', 'unparsed', 'truncated'] as const) {
        const s = new Simulation();
        s.bindSwitch = 'true';
        if (what === 'candidates') {
          s.flow({ noBind: true });
        }
        const before = [s.keycloak.writes.length, s.bound];
        s.unreadable = { [what]: unread(why) };
        const outcome = s.flow();
        expect(outcome).toMatch(/^(Undetermined|Problem) /);
        expect([s.keycloak.writes.length, s.bound]).toEqual(before);
      }
    },
  );

  test('R30 H-B05 a policy that is accepted and not stored is a problem that names the field', () => {
    const s = new Simulation();
    edit(s, { webAuthnPolicyPasswordlessUserVerificationRequirement: 'not specified' });
    s.answer = (_, answer) => {
      edit(s, { webAuthnPolicyPasswordlessUserVerificationRequirement: 'not specified' });
      return answer;
    };
    expect(s.outcomes()[0]).toBe('policy Problem NotStored');
    expect(s.state.lastRun?.passes[0]?.message).toMatch(
      /UserVerificationRequirement is "not specified" instead of "required"/,
    );
  });

  test('R29 a realm without RpEntityName, where it is not declared either, is a problem and not written', () => {
    const desired = exampleInput();
    desired.webAuthnPolicyPasswordless = { RpId: 'x' } as never;
    const s = new Simulation({ desired } as never);
    edit(s, { webAuthnPolicyPasswordlessRpEntityName: '', webAuthnPolicyPasswordlessRpId: 'y' });
    expect(s.outcomes()[0]).toBe('policy Problem NoEntityName');
    expect(s.writes.some((w) => w === 'PUT ')).toBe(false);
  });

  test('R35 missing default actions are a problem, and are not put back', () => {
    const s = new Simulation();
    s.keycloak.requiredActions = s.keycloak.requiredActions.filter((a) => a.alias !== 'CONFIGURE_TOTP');
    expect(s.outcomes()[1]).toBe('requiredAction Problem DefaultActionsMissing');
    expect(s.keycloak.requiredActions.some((a) => a.alias === 'CONFIGURE_TOTP')).toBe(false);
  });

  test('H-B06 a server without the feature fails before any flow work', () => {
    const s = new Simulation();
    s.keycloak.requiredActions = s.keycloak.requiredActions.filter((a) => a.alias !== 'webauthn-register-passwordless');
    expect(s.outcomes()).toEqual([
      'policy Converged AsDeclared',
      'requiredAction Problem NotOnServer',
      'flow Problem NotOnServer',
    ]);
    expect(s.keycloak.writes).toEqual([]);
  });

  test('the required action is put right in one write', () => {
    const s = withoutProbe();
    s.keycloak.requiredActions = s.keycloak.requiredActions.map((a) =>
      a.alias === 'webauthn-register-passwordless' ? { ...a, enabled: false, defaultAction: true } : a,
    );
    expect(s.outcomes()[1]).toBe('requiredAction Converged AsDeclared');
    expect(s.writes.filter((w) => w.includes('required-actions'))).toHaveLength(1);
    expect(s.keycloak.requiredActions.at(-1)).toMatchObject({ enabled: true, defaultAction: false, priority: 10 });
  });

  test('a paused one looks and writes nothing', () => {
    const s = new Simulation();
    s.bindSwitch = 'true';
    s.act('pause', { reason: 'maintenance' });
    expect(s.flow()).toBe('Problem Drift');
    expect(s.message()).toMatch(/paused by ana: maintenance/);
    expect(s.keycloak.writes).toEqual([]);
    s.act('resume');
    expect(s.flow()).toBe('Bound Bound');
  });

  test('a suspended one reads nothing', () => {
    const s = new Simulation({ suspend: true });
    expect(s.outcomes()).toEqual([]);
    expect(keycloakFlowStatus(s.state, s.now)).toMatchObject({ phase: 'Suspended', waiting: { for: 'spec.suspend' } });
  });

  test('a realm that another KeycloakFlow bound is not worked on', () => {
    const s = boundBySwitch();
    const attributes = Object.entries(s.keycloak.realm.attributes ?? {}).map(([k, v]) => [
      k,
      v?.replace('shop-login', 'other') ?? '',
    ]);
    edit(s, { attributes: Object.fromEntries(attributes) as Record<string, string>, browserFlow: 'browser' });
    expect(s.flow()).toBe('Problem OtherFlow');
    expect(s.bound).toBe('browser');
  });

  test('marks that cannot be read leave everything about the flow as it is', () => {
    const s = new Simulation();
    s.bindSwitch = 'true';
    edit(s, { attributes: { 'holdfast.browserFlow.hold': 'yes' } });
    expect(s.flow()).toBe('Undetermined MarksUnread');
    expect(s.keycloak.writes).toEqual([]);
  });
});

describe('the outcome of a run', () => {
  const of = (...outcomes: Parameters<typeof passResult>[1][]) =>
    runOutcome(
      outcomes.map((outcome, index) =>
        passResult((['policy', 'requiredAction', 'flow'] as const)[index] ?? 'flow', outcome, 'X', ''),
      ),
    );

  test.each([
    [['Converged', 'Converged', 'Converged'], 'Converged', 0],
    [['Converged', 'Converged', 'Bound'], 'Bound', 0],
    [['Problem', 'Undetermined', 'Bound'], 'Problem', 1],
    [['Refused', 'Refused', 'Refused'], 'Refused', 2],
    [['Converged', 'Undetermined', 'PendingBind'], 'Undetermined', 3],
    [['Converged', 'Converged', 'PendingBind'], 'PendingBind', 4],
    [['Converged', 'Converged'], 'Undetermined', 3],
    [['Problem'], 'Problem', 1],
    [[], 'Undetermined', 3],
  ] as const)('of %j is %s, exit code %d', (outcomes, outcome, code) => {
    expect(of(...outcomes)).toBe(outcome);
    expect(exitCodeOf(of(...outcomes))).toBe(code);
  });

  test('a candidate that waits longer than a day is told of once more', () => {
    const s = new Simulation();
    s.flow();
    expect(s.notifications).toEqual(['warning PendingBind']);
    s.flow();
    expect(s.notifications).toEqual([]);
    s.now += 24 * HOUR;
    s.flow();
    expect(s.notifications).toEqual(['warning PendingBindOld']);
    s.flow();
    expect(s.notifications).toEqual([]);
  });
});

describe('the status', () => {
  test('says what is bound, what waits, what differs, who approved, and the way back', () => {
    const s = new Simulation();
    s.flow();
    const waits = keycloakFlowStatus(s.state, s.now);
    expect(waits).toMatchObject({
      phase: 'PendingBind',
      bound: { alias: 'browser', asDeclared: false, by: null },
      previous: null,
      bindSwitch: 'absent',
      candidate: {
        alias: s.candidate(),
        proof: 'the login proof passed (1 logins)',
        approve: `holdfast approve keycloakflow/shop-login --candidate ${s.candidate()} --plan ${s.state.pending?.offerHash ?? ''}`,
      },
      waiting: { who: 'person' },
    });
    expect(waits.bound?.diff).toContain('+   auth-username-form REQUIRED');
    expect(conditionFaults(waits.conditions, 1)).toEqual([]);
    s.approve({ reason: 'looks good' });
    s.flow();
    const done = keycloakFlowStatus(s.state, s.now);
    expect(done).toMatchObject({
      phase: 'Bound',
      bound: { alias: s.candidate(), asDeclared: true, by: 'ana' },
      previous: 'browser',
      candidate: null,
      waiting: null,
      binds: 1,
    });
    expect(conditionFaults(done.conditions, 1)).toEqual([]);
    expect(statusText(done)).toMatch(
      /^\*\*Bound\*\* in Enforce, realm shop\n\nBound: `browser-mfa-[0-9a-f]{12}` \(ana\), before `browser`/,
    );
  });

  test('of a run says what it put right, or that the realm is as declared', () => {
    const s = boundBySwitch();
    s.flow();
    edit(s, { webAuthnPolicyPasswordlessRpId: 'x' });
    s.flow();
    const told = keycloakFlowStatus(s.state, s.now).lastRuns.map(({ outcome, message }) => `${outcome}: ${message}`);
    expect(told.slice(-2)).toEqual(['Converged: the realm is as declared', 'Converged: the policy is put right']);
  });

  test('shows the difference as one tree in the text, too', () => {
    const s = new Simulation({ mode: 'Shadow' });
    s.flow();
    const text = statusText(keycloakFlowStatus(s.state, s.now));
    expect(text).toContain('```diff');
    expect(text).toContain('+   auth-username-form REQUIRED');
    expect(text).toMatch(/Waits for flow \(Drift\)/);
  });
});
