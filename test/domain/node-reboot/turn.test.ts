import { describe, expect, test } from 'vitest';
import { fail, pass, read, unmeasured } from '../../../src/domain/core/verdict.ts';
import { applyResult, stillCounts } from '../../../src/domain/node-reboot/apply-result.ts';
import { isInterruptedBy } from '../../../src/domain/node-reboot/command.ts';
import { lockData } from '../../../src/domain/node-reboot/lock.ts';
import { nextCommand } from '../../../src/domain/node-reboot/next-command.ts';
import type { CampaignResult } from '../../../src/domain/node-reboot/result.ts';
import { visitPhases, type VisitPhase } from '../../../src/domain/node-reboot/visit.ts';
import { before, Campaign, HOUR, kernelWish, MINUTE, node, NOW, observation } from './world.ts';

const held = { of: 'takeLock', outcome: 'held', message: 'held' } as const;
const gatesPass = (at = NOW): CampaignResult => ({ of: 'gatesBefore', readings: [], before: read(before), at });
const lastPass = (at = NOW): CampaignResult => ({ of: 'lastCheck', readings: [], sentinel: read(kernelWish), at });
const blocked = { gate: 'longhorn', verdict: fail('Degraded', 'volume pvc-1 is degraded'), lift: null };

describe('the turn of a node', () => {
  test('goes from the lock to its release, one step after the other', () => {
    const campaign = new Campaign({ approval: 'None' });
    expect(campaign.next()).toEqual({ do: 'look' });
    expect(campaign.sees(observation(['n1']))).toMatchObject({ do: 'takeLock', record: { visit: { node: 'n1' } } });
    const steps: [CampaignResult, string][] = [
      [held, 'gatesBefore'],
      [gatesPass(), 'cordon'],
      [{ of: 'cordon', outcome: 'cordoned', message: '' }, 'movePrimaries'],
      [{ of: 'movePrimaries', verdict: pass() }, 'drain'],
      [{ of: 'drain', outcome: 'drained', message: '' }, 'lastCheck'],
      [lastPass(), 'reboot'],
      [{ of: 'reboot', outcome: 'sent', message: '' }, 'awaitReturn'],
      [{ of: 'awaitReturn', outcome: 'returned', bootId: 'n1-boot-2', message: '' }, 'checkNode'],
      [{ of: 'checkNode', verdict: pass(), kernel: kernelWish.kernel ?? '' }, 'uncordon'],
      [{ of: 'uncordon', outcome: 'done', message: '' }, 'settle'],
      [{ of: 'settle', verdict: pass() }, 'releaseLock'],
      [{ of: 'releaseLock', message: '' }, 'look'],
    ];
    for (const [result, then] of steps) expect(campaign.take(result).do).toBe(then);
    expect(campaign.state.done['n1']).toMatchObject({ bootId: 'n1-boot-2' });
    expect(campaign.state.evidence.filter(({ kind }) => kind === 'write').length).toBeGreaterThan(5);
  });

  test('NR-61 the uncordon comes before the volumes are waited for', () => {
    const phases = visitPhases.filter((phase) => ['Uncordoning', 'Settling'].includes(phase));
    expect(phases).toEqual(['Uncordoning', 'Settling']);
    const campaign = new Campaign().at('Checking', { rebootAt: NOW, bootedAs: 'n1-boot-2' });
    expect(campaign.take({ of: 'checkNode', verdict: pass(), kernel: '6.14' }).do).toBe('uncordon');
  });

  test('P3 gates that do not pass give the lock back, and nothing was changed', () => {
    const campaign = new Campaign().at('Gating');
    campaign.state = { ...campaign.state, visit: campaign.state.visit && { ...campaign.state.visit, before: null } };
    expect(campaign.take({ of: 'gatesBefore', readings: [blocked], before: read(before), at: NOW }).do).toBe(
      'releaseLock',
    );
    expect(campaign.state.stopped).toBeNull();
    campaign.take({ of: 'releaseLock', message: '' });
    campaign.sees(observation(['n1']));
    // It is not begun again at once.
    expect(campaign.next().do).toBe('wait');
  });

  test('NR-42 gates that were read more than a minute ago are read again before the cordon', () => {
    const campaign = new Campaign().at('Cordoning', { gatesAt: NOW });
    expect(campaign.next()).toMatchObject({ do: 'cordon', deadline: NOW + MINUTE });
    expect(campaign.take({ of: 'cordon', outcome: 'stale', message: '' }).do).toBe('gatesBefore');
  });

  test('NR-35 primaries that stay: no reboot, uncordoned, lock kept, a person is told', () => {
    const campaign = new Campaign().at('Moving');
    expect(campaign.take({ of: 'movePrimaries', verdict: fail('PrimaryStays', 'db/main-1 is primary') }).do).toBe(
      'restore',
    );
    campaign.take({ of: 'restore', outcome: 'done', message: '' });
    expect(campaign.pages()).toEqual(['PrimariesStay']);
    expect(campaign.next()).toMatchObject({ do: 'wait', for: { kind: 'person' } });
    expect(campaign.state).toMatchObject({ holds: true, visit: { phase: 'Restored' } });
  });

  test('NR-44 a drain that is blocked: no reboot, uncordoned, lock kept, and the page names pod and budget', () => {
    const campaign = new Campaign().at('Draining');
    const message = 'pod shop/web-0: disruption budget shop/web allows no eviction';
    expect(campaign.take({ of: 'drain', outcome: 'blocked', message }).do).toBe('restore');
    const page = campaign.take({ of: 'restore', outcome: 'done', message: '' });
    expect(page).toMatchObject({ do: 'page', page: { text: expect.stringContaining(message) as string } });
  });

  test('NR-43 another node that goes out during the drain: no reboot, restored, stopped', () => {
    const campaign = new Campaign().at('LastCheck');
    const readings = [{ gate: 'nodes', verdict: fail('NodeOut', 'node n2 is not Ready'), lift: null }];
    expect(campaign.take({ of: 'lastCheck', readings, sentinel: read(kernelWish), at: NOW }).do).toBe('restore');
    expect(campaign.take({ of: 'restore', outcome: 'done', message: '' }).do).toBe('page');
  });

  test('NR-7 a wish that is gone before the reboot: uncordoned and released, without a stop', () => {
    for (const sentinel of [null, { packages: ['libc6'], kernel: null }]) {
      const campaign = new Campaign().at('LastCheck');
      expect(campaign.take({ of: 'lastCheck', readings: [], sentinel: read(sentinel), at: NOW }).do).toBe('restore');
      expect(campaign.take({ of: 'restore', outcome: 'done', message: '' }).do).toBe('releaseLock');
      expect(campaign.state.stopped).toBeNull();
    }
  });

  test('NR-52 a node that does not return: one page, lock held, watched on without an end', () => {
    const campaign = new Campaign().at('Returning', { rebootAt: NOW });
    campaign.take({ of: 'awaitReturn', outcome: 'hung', message: 'node n1 hangs' });
    expect(campaign.pages()).toEqual(['Hung']);
    campaign.now += 30 * 24 * HOUR;
    expect(campaign.next()).toMatchObject({ do: 'awaitReturn', deadline: Number.MAX_SAFE_INTEGER });
    expect(campaign.state.holds).toBe(true);
  });

  test('NR-53 a node that returns late is checked, and a person is asked before the next one', () => {
    const campaign = new Campaign({ approval: 'None' }).at('Returning', { rebootAt: NOW, hungSince: NOW });
    expect(campaign.take({ of: 'awaitReturn', outcome: 'returned', bootId: 'n1-boot-2', message: '' }).do).toBe(
      'checkNode',
    );
    campaign.take({ of: 'checkNode', verdict: pass(), kernel: '6.14' });
    campaign.take({ of: 'uncordon', outcome: 'done', message: '' });
    campaign.take({ of: 'settle', verdict: pass() });
    campaign.take({ of: 'releaseLock', message: '' });
    expect(campaign.sees(observation(['n2']))).toMatchObject({
      do: 'wait',
      for: { kind: 'approval', offer: { node: 'n2' } },
    });
    campaign.approve();
    expect(campaign.next()).toMatchObject({ do: 'takeLock' });
  });

  test('NR-54 a reboot that did nothing is told and not repeated', () => {
    const campaign = new Campaign().at('Returning', { rebootAt: NOW });
    campaign.take({ of: 'awaitReturn', outcome: 'didNothing', message: 'same boot' });
    expect(campaign.pages()).toEqual(['RebootDidNothing']);
    expect(campaign.next()).toMatchObject({ do: 'wait', for: { kind: 'person' } });
    campaign.act('retry');
    expect(campaign.next().do).toBe('awaitReturn');
  });

  test.each([
    ['NR-56', 'KernelBelowFloor'],
    ['NR-57', 'MemoryLost'],
    ['NR-58', 'WrongKernel'],
  ])('%s %s: it stays cordoned, the lock is held, a person is told', (_, reason) => {
    const campaign = new Campaign().at('Checking', { rebootAt: NOW, bootedAs: 'n1-boot-2' });
    campaign.take({ of: 'checkNode', verdict: fail(reason, 'no'), kernel: '6.12' });
    expect(campaign.pages()).toEqual([reason]);
    expect(campaign.next().do).toBe('wait');
    expect(campaign.state).toMatchObject({ holds: true, visit: { phase: 'Checking' } });
    // Not even a cancel uncordons it.
    expect(campaign.act('cancel')).toContain('kubectl');
    expect(campaign.next().do).toBe('wait');
  });

  test('a stop is written to the lock before anybody is told: reason, and commands that do not give back what failed', () => {
    const campaign = new Campaign().at('Checking', { rebootAt: NOW, bootedAs: 'n1-boot-2', step: 9 });
    campaign.take({ of: 'checkNode', verdict: fail('MemoryLost', 'n1 has 16 % of its memory'), kernel: '6.14' });
    expect(campaign.noted).toMatchObject([
      { reason: 'MemoryLost: n1 has 16 % of its memory', visit: { phase: 'Checking', step: 10 } },
    ]);
    const [written] = campaign.noted.map(lockData);
    expect(written?.['undo']).toContain('MemoryLost');
    // What goes on says nothing of it any more.
    campaign.pages();
    campaign.act('retry');
    expect(campaign.next()).toMatchObject({ record: { visit: { stoppedFor: null } } });
    expect(campaign.noted).toHaveLength(1);
  });

  test('people are told of a stop also where the lock cannot be written, and the lock hears of it later', () => {
    const { state, now } = new Campaign().at('Checking', { rebootAt: NOW, bootedAs: 'n1-boot-2' });
    const verdict = fail('MemoryLost', 'n1 has 16 % of its memory');
    const stopped = applyResult(state, { of: 'checkNode', verdict, kernel: '6.14' }, now);
    expect(nextCommand(stopped, now)).toMatchObject({ do: 'noteStop', deadline: now + 20_000 });
    const inVain = applyResult(stopped, { of: 'noteStop', written: false }, now);
    expect(nextCommand(inVain, now)).toMatchObject({ do: 'page', page: { what: 'MemoryLost' } });
    const told = { ...inVain, pages: [] };
    expect(nextCommand(told, now)).toMatchObject({ do: 'noteStop', deadline: Number.MAX_SAFE_INTEGER });
    const written = applyResult(told, { of: 'noteStop', written: true }, now);
    expect(nextCommand(written, now)).toMatchObject({ do: 'wait', for: { kind: 'person', reason: 'MemoryLost' } });
  });

  test('a node that runs another boot by now than was offered is given back, and offered anew', () => {
    const campaign = new Campaign().at('Gating', { offeredBoot: 'n1-boot-0', before: null });
    const seen = { of: 'gatesBefore', readings: [], before: read(before), at: campaign.now } as const;
    campaign.take(seen);
    expect(campaign.state.visit?.givingUp).toMatchObject({ reason: 'CordonRefused', keepLock: false });
  });

  test('a node that still carries our cordon once the lock is free holds back the rest, with the commands that take it off', () => {
    const campaign = new Campaign();
    const seen = observation(['n2']);
    const nodes = read([
      node('n1', { unschedulable: true, cordonedBy: { campaign: 'control-plane', run: 'run-0' } }),
      node('n2'),
      node('n3'),
    ]);
    const waits = campaign.sees({ ...seen, nodes });
    expect(waits).toMatchObject({ do: 'wait', for: { kind: 'refused', node: 'n1', reason: 'LeftCordoned' } });
    expect(JSON.stringify(waits)).toContain('kubectl uncordon n1 && kubectl annotate node n1');
  });

  test("whoever has lost the lock is not told how to release it: it may be somebody else's", () => {
    const campaign = new Campaign().at('Draining');
    campaign.take({ of: 'lockLost', message: 'the lock is held by campaign b' });
    const [page] = campaign.state.pages;
    expect(page?.text).toContain('kubectl uncordon n1');
    expect(page?.text).not.toContain('patch configmap');
  });

  test('a lock that is kept after a node was given back says that it was, and why', () => {
    const campaign = new Campaign().at('Draining');
    campaign.take({ of: 'drain', outcome: 'blocked', message: 'pod shop/web-0 stays' });
    campaign.take({ of: 'restore', outcome: 'done', message: '' });
    expect(campaign.noted).toMatchObject([
      { reason: 'DrainBlocked: pod shop/web-0 stays', visit: { phase: 'Restored' } },
    ]);
  });

  test('a lock that an earlier run has kept after a failure is kept for the same reason, until a person decides', () => {
    const earlier = new Campaign().at('Draining');
    earlier.take({ of: 'drain', outcome: 'blocked', message: 'pod shop/web-0 stays' });
    earlier.take({ of: 'restore', outcome: 'done', message: '' });
    const [holder = null] = earlier.noted.map((record) => ({ ...record, run: 'run-0' }));
    const campaign = new Campaign();
    const lock = read({ holder, resourceVersion: '7' });
    expect(campaign.sees(observation(['n1'], { lock, holderRun: 'ended' })).do).toBe('takeLock');
    expect(campaign.take(held).do).toBe('restore');
    campaign.take({ of: 'restore', outcome: 'done', message: '' });
    expect(campaign.pages()).toEqual(['DrainBlocked']);
    campaign.act('retry');
    expect(campaign.next().do).toBe('releaseLock');
  });

  test('gates that are too old each time it comes to the cordon are given up after five rounds, and a person is told', () => {
    const campaign = new Campaign().at('Cordoning', { gatesAt: NOW });
    for (let round = 1; round < 5; round++) {
      expect(campaign.take({ of: 'cordon', outcome: 'stale', message: 'read too long ago' }).do).toBe('gatesBefore');
      expect(campaign.take(gatesPass(campaign.now)).do).toBe('cordon');
    }
    expect(campaign.take({ of: 'cordon', outcome: 'stale', message: 'read too long ago' }).do).toBe('restore');
    campaign.take({ of: 'restore', outcome: 'done', message: '' });
    expect(campaign.pages()).toEqual(['GatesTooSlow']);
  });

  test('a last check that is too old each time it comes to the reboot is given up after five rounds, and the node given back', () => {
    const campaign = new Campaign().at('Rebooting', { rebootAt: NOW, gatesAt: NOW });
    for (let round = 1; round < 5; round++) {
      expect(campaign.take({ of: 'reboot', outcome: 'stale', message: 'too old' }).do).toBe('lastCheck');
      expect(campaign.take(lastPass(campaign.now)).do).toBe('reboot');
    }
    const last = campaign.take({ of: 'reboot', outcome: 'stale', message: 'too old' });
    expect(last).toMatchObject({ do: 'restore', record: { visit: { rebootAt: null, givingUp: { keepLock: true } } } });
  });

  test('rounds before the cordon do not count for the reboot', () => {
    const campaign = new Campaign().at('Cordoning', { gatesAt: NOW, staleRounds: 4 });
    campaign.take({ of: 'cordon', outcome: 'cordoned', message: '' });
    expect(campaign.state.visit?.staleRounds).toBe(0);
  });

  test('what comes of a step after a person has taken the node over does not count', () => {
    const campaign = new Campaign().at('Returning', { rebootAt: NOW, hungSince: NOW });
    const awaiting = campaign.next();
    expect(stillCounts(campaign.state, awaiting)).toBe(true);
    campaign.act('releaseLock', { node: 'n1' });
    expect(stillCounts(campaign.state, awaiting)).toBe(false);
    // What is about no node counts always.
    expect(stillCounts(campaign.state, { do: 'look' })).toBe(true);
  });

  test.each(['Gating', 'Draining', 'LastCheck', 'Returning', 'Checking', 'Settling'] as const)(
    'another spec is heard by what is under way in %s, and its time goes on',
    (phase) => {
      const campaign = new Campaign().at(phase, { rebootAt: NOW, bootedAs: 'b' });
      const underWay = campaign.next();
      campaign.now += MINUTE;
      const wanted = { mode: 'Enforce', nodes: ['n1', 'n2', 'n3'], kernelFloor: '6.13', settleDeadline: '9h' };
      expect(campaign.act('applySpec', { spec: wanted })).toContain('new spec');
      const due = campaign.next();
      expect(due.do).toBe(underWay.do);
      expect(stillCounts(campaign.state, underWay)).toBe(false);
      expect(campaign.state.visit?.since).toBe(NOW);
      if (phase !== 'Gating' && phase !== 'LastCheck') expect(isInterruptedBy(underWay, due)).toBe(true);
    },
  );

  test.each(['Cordoning', 'Moving', 'Rebooting', 'Uncordoning'] as const)(
    'another spec repeats no write: what comes of %s counts',
    (phase) => {
      const campaign = new Campaign().at(phase, { rebootAt: phase === 'Moving' ? null : NOW, bootedAs: 'b' });
      const underWay = campaign.next();
      const wanted = { mode: 'Enforce', nodes: ['n1', 'n2', 'n3'], kernelFloor: '6.13', settleDeadline: '9h' };
      expect(campaign.act('applySpec', { spec: wanted })).toContain('new spec');
      expect(stillCounts(campaign.state, underWay)).toBe(true);
    },
  );

  test('who was to be asked before a node that was given back is asked before the next one too', () => {
    const campaign = new Campaign({ approval: 'None' }).at('Releasing', {
      givingUp: { reason: 'SentinelGone', message: 'no', keepLock: false },
    });
    campaign.state = { ...campaign.state, personNext: 'node n3 came back late' };
    campaign.take({ of: 'releaseLock', message: '' });
    expect(campaign.state.personNext).toBe('node n3 came back late');
    campaign.now += MINUTE;
    expect(campaign.sees({ ...observation(['n2']), at: campaign.now })).toMatchObject({ for: { kind: 'approval' } });
    // A node that was rebooted after a yes has used it up.
    const done = new Campaign({ approval: 'None' }).at('Releasing');
    done.state = { ...done.state, personNext: 'node n3 came back late' };
    done.take({ of: 'releaseLock', message: '' });
    expect(done.state.personNext).toBeNull();
  });

  test('what was set aside for a turn is gone with it', () => {
    const campaign = new Campaign().at('Releasing');
    const one = { gate: 'dns', node: 'n1', by: 'ana', reason: 'one replica', at: NOW, expiresAt: NOW + HOUR };
    const unused = { ...one, node: 'n2', usedFor: null };
    campaign.state = { ...campaign.state, overrides: [{ ...one, usedFor: NOW }, unused] };
    campaign.take({ of: 'releaseLock', message: '' });
    expect(campaign.state.overrides).toEqual([unused]);
  });

  test('a lock that was lost is not written to', () => {
    const campaign = new Campaign().at('Checking', { rebootAt: NOW });
    campaign.take({ of: 'lockLost', message: 'somebody has released the lock' });
    expect(campaign.noted).toEqual([]);
  });

  test('a node that was given back after a failure is begun anew as soon as a person says retry', () => {
    const campaign = new Campaign({ approval: 'None' }).at('Draining');
    campaign.take({ of: 'drain', outcome: 'blocked', message: 'a pod stays' });
    campaign.take({ of: 'restore', outcome: 'done', message: '' });
    expect(campaign.pages()).toEqual(['DrainBlocked']);
    campaign.act('retry');
    expect(campaign.next().do).toBe('releaseLock');
    campaign.take({ of: 'releaseLock', message: '' });
    expect(campaign.sees(observation(['n1'])).do).toBe('takeLock');
  });

  test('a node that a person booted anew after it had failed its checks is looked for as after a reboot', () => {
    const campaign = new Campaign().at('Checking', { rebootAt: NOW, bootedAs: 'n1-boot-2' });
    campaign.take({ of: 'checkNode', verdict: fail('WrongKernel', 'no'), kernel: '6.12' });
    campaign.pages();
    campaign.act('retry');
    expect(campaign.next()).toMatchObject({ do: 'awaitReturn', record: { visit: { bootedAs: null } } });
    const back = { of: 'awaitReturn', outcome: 'returned', bootId: 'n1-boot-3', message: '' } as const;
    expect(campaign.take(back)).toMatchObject({ do: 'checkNode', record: { visit: { bootedAs: 'n1-boot-3' } } });
  });

  test('NR-62 NR-63 volumes that are not healthy in time keep the lock, whatever time has passed', () => {
    const campaign = new Campaign().at('Settling', { uncordonedAt: NOW });
    campaign.now += 3 * HOUR;
    expect(campaign.next().do).toBe('settle');
    campaign.take({ of: 'settle', verdict: unmeasured('volumes', 'Longhorn', 'timeout', 'nothing answers') });
    expect(campaign.pages()).toEqual(['NotSettled']);
    expect(campaign.state.holds).toBe(true);
  });

  test('NR-17 a lock that is gone stops everything, and nothing more is done to the node', () => {
    const phases: VisitPhase[] = [
      'Gating',
      'Cordoning',
      'Draining',
      'Rebooting',
      'Returning',
      'Uncordoning',
      'Settling',
    ];
    for (const phase of phases) {
      const campaign = new Campaign().at(phase, { rebootAt: NOW });
      campaign.take({ of: 'lockLost', message: 'somebody has released the lock' });
      expect(campaign.pages()).toEqual(['LockLost']);
      expect(campaign.next()).toMatchObject({ do: 'wait', for: { kind: 'person', reason: 'LockLost' } });
    }
  });

  test('NR-49 a boot that has changed already is not told again, and a person is asked before the next node', () => {
    const campaign = new Campaign().at('Rebooting', { rebootAt: NOW, gatesAt: NOW });
    expect(campaign.take({ of: 'reboot', outcome: 'rebooted', message: 'another boot' }).do).toBe('awaitReturn');
    expect(campaign.state.visit?.personNext).toBe('another boot');
  });

  test('a node that was told to reboot and is taken over by a person is not told again unasked', () => {
    const campaign = new Campaign({ approval: 'None' }).at('Returning', { rebootAt: NOW });
    campaign.take({ of: 'awaitReturn', outcome: 'didNothing', message: 'the reboot did nothing' });
    campaign.pages();
    campaign.act('releaseLock', { node: 'n1' });
    campaign.take({ of: 'releaseLock', message: 'the lock is released' });
    campaign.now += 2 * 60_000;
    campaign.next();
    expect(campaign.sees(observation(['n1']))).toMatchObject({ do: 'wait', for: { kind: 'approval' } });
  });

  test('NR-64 a second node that fails leaves the third untouched', () => {
    const campaign = new Campaign({ approval: 'None' }).at('Checking', { rebootAt: NOW, bootedAs: 'n1-boot-2' });
    campaign.take({ of: 'checkNode', verdict: fail('WrongKernel', 'no'), kernel: '6.12' });
    campaign.pages();
    expect(campaign.sees(observation(['n3'])).do).toBe('wait');
  });
});

describe('cancel', () => {
  test.each<[VisitPhase, string]>([
    ['Locking', 'releaseLock'],
    ['Gating', 'releaseLock'],
    ['Cordoning', 'restore'],
    ['Moving', 'restore'],
    ['Draining', 'restore'],
    ['LastCheck', 'restore'],
    ['Rebooting', 'reboot'],
    ['Returning', 'awaitReturn'],
    ['Checking', 'checkNode'],
    ['Uncordoning', 'uncordon'],
    ['Settling', 'settle'],
    ['Releasing', 'releaseLock'],
  ])('NR-65 in phase %s: then %s', (phase, then) => {
    const untouched = phase === 'Locking' || phase === 'Gating';
    const campaign = new Campaign().at(phase, { rebootAt: NOW, bootedAs: 'b' });
    if (untouched && campaign.state.visit !== null) {
      campaign.state = { ...campaign.state, visit: { ...campaign.state.visit, before: null, rebootAt: null } };
    }
    campaign.act('cancel');
    expect(campaign.next().do).toBe(then);
    if (then === 'restore') campaign.take({ of: 'restore', outcome: 'done', message: '' });
    if (then === 'restore' || then === 'releaseLock') {
      expect(campaign.next().do).toBe('releaseLock');
      expect(campaign.take({ of: 'releaseLock', message: '' }).do).toBe('done');
    }
  });

  test('between turns it ends at once', () => {
    const campaign = new Campaign();
    campaign.act('cancel');
    expect(campaign.next().do).toBe('done');
  });
});

describe('an override', () => {
  const gates = [blocked];

  test('NR-41 lets one gate pass for one visit, is recorded, and then is used up', () => {
    const campaign = new Campaign().at('Gating');
    campaign.state = { ...campaign.state, gates };
    expect(campaign.act('force', { gate: 'longhorn', node: 'n1', reason: 'a scratch volume' })).toContain(
      'sets gate longhorn aside',
    );
    const seen: CampaignResult = { of: 'gatesBefore', readings: gates, before: read(before), at: NOW };
    expect(campaign.take(seen).do).toBe('cordon');
    expect(campaign.state.evidence.filter(({ kind }) => kind === 'override')).toHaveLength(2);
    // The same visit, after the drain.
    const used = campaign.state.overrides;
    campaign.at('LastCheck');
    campaign.state = { ...campaign.state, overrides: used };
    expect(campaign.take({ of: 'lastCheck', readings: gates, sentinel: read(kernelWish), at: NOW }).do).toBe('reboot');
    // Another visit.
    campaign.now += 10 * MINUTE;
    campaign.at('Gating');
    expect(campaign.take(seen).do).not.toBe('cordon');
  });

  test('NR-41 expires', () => {
    const campaign = new Campaign().at('Gating');
    campaign.state = { ...campaign.state, gates };
    campaign.act('force', { gate: 'longhorn', node: 'n1', reason: 'now', for: '1m' });
    campaign.now += MINUTE;
    expect(campaign.take({ of: 'gatesBefore', readings: gates, before: read(before), at: campaign.now }).do).not.toBe(
      'cordon',
    );
  });

  test('is of its gate and its node alone, and never of what the product promises', () => {
    const campaign = new Campaign().at('Gating');
    campaign.state = { ...campaign.state, gates };
    expect(campaign.act('force', { gate: 'nodes', node: 'n1', reason: 'x' })).toContain('cannot be set aside');
    expect(campaign.act('force', { gate: 'locks', node: 'n1', reason: 'x' })).toContain('cannot be set aside');
    const drain = campaign.act('force', { gate: 'drain', node: 'n1', reason: 'x' });
    expect(drain).toContain('gate drain cannot be set aside: the drain itself');
    expect(drain).toContain('spec.drain');
    expect(drain).toContain('expectedBlocked');
    expect(campaign.state.overrides).toEqual([]);
    expect(campaign.act('force', { gate: 'longhorn', node: 'n1' })).toContain('reason');
    expect(campaign.act('force', { gate: 'lomghorn', node: 'n1', reason: 'x' })).toContain('there are longhorn');
    campaign.act('force', { gate: 'longhorn', node: 'n2', reason: 'x' });
    expect(campaign.take({ of: 'gatesBefore', readings: gates, before: read(before), at: NOW }).do).not.toBe('cordon');
  });
});

describe('approvals', () => {
  test('one is asked for by node, and covers that node on that boot alone', () => {
    const campaign = new Campaign();
    expect(campaign.sees(observation(['n1', 'n2']))).toMatchObject({
      for: { kind: 'approval', offer: { node: 'n1' } },
    });
    expect(campaign.act('approve', { node: 'n2', plan: 'deadbeef' })).toContain('node n1 does');
    expect(campaign.act('approve', { node: 'n1', plan: 'deadbeef' })).toContain('has changed');
    campaign.approve();
    expect(campaign.next().do).toBe('takeLock');
    const rebooted = read([node('n1', { bootId: 'n1-boot-9' }), node('n2'), node('n3')]);
    const other = new Campaign();
    other.sees(observation(['n1']));
    other.approve();
    expect(other.sees(observation(['n1'], { nodes: rebooted }))).toMatchObject({ for: { kind: 'approval' } });
  });

  test('one of the campaign covers every node that wanted it then, and none that came later', () => {
    const campaign = new Campaign({ approval: 'PerCampaign' });
    campaign.sees(observation(['n1', 'n2']));
    campaign.approve();
    expect(campaign.next().do).toBe('takeLock');
    campaign.state = { ...campaign.state, visit: null };
    expect(campaign.sees(observation(['n2']))).toMatchObject({ do: 'takeLock', record: { visit: { node: 'n2' } } });
    campaign.state = { ...campaign.state, visit: null };
    expect(campaign.sees(observation(['n3']))).toMatchObject({ do: 'wait', for: { kind: 'approval' } });
  });

  test('with approvers a signature is asked for', () => {
    const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl';
    const campaign = new Campaign({ approvers: [{ name: 'ana', key }] });
    const waiting = campaign.sees(observation(['n1']));
    if (waiting.do !== 'wait' || waiting.for.kind !== 'approval') throw new Error('no approval is asked for');
    expect(campaign.act('approve', { node: 'n1', plan: waiting.for.hash })).toContain('ssh-keygen -Y sign');
  });
});

describe('time', () => {
  const night = [{ from: '03:00', to: '06:00', timeZone: 'Europe/Berlin' }];

  test('NR-5 outside the window it waits, and where too little is left of it too', () => {
    const campaign = new Campaign({ approval: 'None', windows: night, worstCase: '1h' });
    expect(campaign.sees(observation(['n1']))).toMatchObject({
      do: 'wait',
      for: { kind: 'window', opensAt: Date.parse('2026-03-03T03:00:00+01:00') },
    });
    campaign.now = Date.parse('2026-03-03T05:30:00+01:00');
    expect(campaign.next()).toMatchObject({
      for: { kind: 'window', opensAt: Date.parse('2026-03-04T03:00:00+01:00') },
    });
    campaign.now = Date.parse('2026-03-03T04:59:00+01:00');
    // What was seen the day before is looked at anew first.
    expect(campaign.next().do).toBe('look');
    expect(campaign.sees(observation(['n1'])).do).toBe('takeLock');
  });

  test('NR-5 a turn for which a page or the API server was waited until the window closed changes nothing', () => {
    const campaign = new Campaign({ approval: 'None', windows: night, worstCase: '1h' }).at('Gating');
    campaign.now = Date.parse('2026-03-03T09:00:00+01:00');
    campaign.take({ of: 'gatesBefore', readings: [], before: read(before), at: campaign.now });
    expect(campaign.state.visit).toMatchObject({
      phase: 'Restoring',
      givingUp: { reason: 'OutsideWindow', keepLock: false },
    });
  });

  test('a node that its gates held back waits for them by name, and not as if they had not been read', () => {
    const campaign = new Campaign({ approval: 'None' }).at('Gating');
    campaign.state = { ...campaign.state, observation: observation(['n1']) };
    campaign.take({ of: 'gatesBefore', readings: [blocked], before: read(before), at: campaign.now });
    campaign.take({ of: 'restore', outcome: 'done', message: '' });
    campaign.take({ of: 'releaseLock', message: '' });
    campaign.sees(observation(['n1']));
    expect(campaign.next()).toMatchObject({ do: 'wait', for: { kind: 'gates', node: 'n1' } });
  });

  test('what was seen before a pause is looked at anew after it, since a reboot daemon may run by now', () => {
    const campaign = new Campaign({ approval: 'None' });
    campaign.act('pause');
    campaign.sees(observation(['n1']));
    campaign.now += 3 * 24 * HOUR;
    campaign.act('resume');
    expect(campaign.next().do).toBe('look');
  });

  test('a campaign that has lost its lock is not ended by a word: the node may be out', () => {
    const campaign = new Campaign().at('Returning', { rebootAt: NOW });
    campaign.take({ of: 'lockLost', message: 'somebody has released the lock' });
    expect(campaign.act('cancel')).toContain('retry');
    expect(campaign.state.cancel).toBeNull();
    campaign.act('retry');
    expect(campaign.act('cancel')).toBe('ends the campaign');
  });

  test('NR-65 a failure after a cancel gives the lock back with the node', () => {
    const campaign = new Campaign().at('LastCheck');
    campaign.act('cancel');
    const why = { gate: 'nodes', verdict: fail('NodeOut', 'node n2 is cordoned'), lift: null };
    campaign.take({ of: 'lastCheck', readings: [why], sentinel: read(kernelWish), at: campaign.now });
    expect(campaign.state.visit?.givingUp?.keepLock).toBe(false);
  });

  test('NR-5 on the day of the clock change it opens by the clocks of the zone', () => {
    const campaign = new Campaign({ approval: 'None', windows: night });
    campaign.now = Date.parse('2026-03-28T12:00:00+01:00');
    expect(campaign.sees(observation(['n1']))).toMatchObject({
      for: { kind: 'window', opensAt: Date.parse('2026-03-29T03:00:00+02:00') },
    });
  });

  test('NR-6 a node that is being drained when the window closes is finished, and no other begun', () => {
    const campaign = new Campaign({ approval: 'None', windows: night }).at('Draining');
    campaign.now = Date.parse('2026-03-03T06:10:00+01:00');
    expect(campaign.next().do).toBe('drain');
    campaign.state = { ...campaign.state, visit: null, holds: false };
    expect(campaign.sees(observation(['n2']))).toMatchObject({ do: 'wait', for: { kind: 'window' } });
  });
});

describe('Shadow', () => {
  test('takes no lock, and neither does Enforce while a reboot daemon runs', () => {
    const campaign = new Campaign({ mode: 'Shadow', approval: 'None' });
    expect(campaign.sees(observation(['n1']))).toMatchObject({ do: 'wait', for: { kind: 'enforce' } });
    const beside = new Campaign({ approval: 'None', incumbents: [{}] });
    expect(beside.sees(observation(['n1']))).toMatchObject({ do: 'wait', for: { kind: 'enforce', node: 'n1' } });
  });

  test('is not entered while a node is out', () => {
    const campaign = new Campaign().at('Returning', { rebootAt: NOW });
    expect(campaign.act('setMode', { mode: 'Shadow' })).toContain('must be brought back first');
    expect(campaign.state.spec.mode).toBe('Enforce');
  });
});
