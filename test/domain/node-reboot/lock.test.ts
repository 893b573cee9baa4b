import { describe, expect, test } from 'vitest';
import { read } from '../../../src/domain/core/verdict.ts';
import { handCommands, readLockByHand, releaseLockByHand } from '../../../src/domain/node-reboot/by-hand.ts';
import {
  lockData,
  lockStanding,
  mayTakeLock,
  mayWriteLock,
  parseLock,
  type HolderRun,
  type LockRecord,
} from '../../../src/domain/node-reboot/lock.ts';
import { inPhase, newVisit, visitPhases } from '../../../src/domain/node-reboot/visit.ts';
import { before, Campaign, NOW, observation } from './world.ts';

const visit = { ...newVisit('n1', 'libc6', null, NOW), before };
const blue: LockRecord = { campaign: 'blue', run: 'run-1', visit, reason: 'node n1 is being rebooted' };
const held = (holder: LockRecord | null) => ({ holder, resourceVersion: '7' });
const later: LockRecord = { ...blue, visit: inPhase(visit, 'Draining', NOW + 1) };

describe('what the lock says', () => {
  test('is read back as it was written, at every phase', () => {
    for (const phase of visitPhases) {
      const record = { ...blue, visit: { ...visit, phase } };
      expect(parseLock('l', lockData(record), '7')).toEqual(read(held(record)));
    }
  });

  test('is read back as it was written where it says why it stopped', () => {
    const stopped = { ...visit, stoppedFor: { reason: 'MemoryLost', message: '16 %' } };
    expect(parseLock('l', lockData({ ...blue, visit: stopped }), '7')).toEqual(read(held({ ...blue, visit: stopped })));
  });

  test('stays well below what an API server takes, however much there is to say', () => {
    const message = 'volume pvc-1 is degraded; '.repeat(100_000);
    const data = lockData({
      ...blue,
      reason: message,
      visit: {
        ...visit,
        phase: 'Checking',
        givingUp: { reason: 'LastCheckFailed', message, keepLock: true },
        stoppedFor: { reason: 'NotSettled', message },
        personNext: message,
      },
    });
    expect(JSON.stringify(data).length).toBeLessThan(20_000);
    expect(parseLock('l', data, '7').kind).toBe('read');
  });

  test('names campaign, node, phase, since, run, reason and the way back, for people', () => {
    expect(lockData(later)).toMatchObject({
      campaign: 'blue',
      node: 'n1',
      phase: 'Draining',
      since: '2026-03-02T12:00:00.001Z',
      run: 'run-1',
      undo: expect.stringContaining('kubectl uncordon n1') as string,
    });
  });

  test('is free where the ConfigMap holds nothing', () => {
    expect(parseLock('l', undefined, '7')).toEqual(read(held(null)));
    expect(parseLock('l', {}, '7')).toEqual(read(held(null)));
  });

  test('is unmeasured, and not free, where it cannot be understood', () => {
    const data = lockData(blue);
    const odd: Record<string, string>[] = [
      { note: 'hands off' },
      { ...data, visit: '' },
      { ...data, visit: '{"node":"n1"}' },
      { ...data, node: 'n2' },
      { ...data, visit: data['visit']?.replace('Locking', 'Flying') ?? '' },
    ];
    for (const one of odd) expect(parseLock('l', one, '7').kind).toBe('unmeasured');
  });

  test('a node that a person had cordoned is not uncordoned by hand either', () => {
    const cordoned = { ...later.visit, before: { ...before, unschedulable: true } };
    expect(handCommands({ run: 'run-1', visit: cordoned }).join()).not.toContain('uncordon');
  });

  test('tells at each phase how to give the lock back', () => {
    for (const phase of visitPhases)
      expect(handCommands({ run: 'run-1', visit: { ...visit, phase } })).toContain(releaseLockByHand);
  });
});

describe('whose lock it is', () => {
  test('NR-89 a lock of an earlier run is taken over once that run is known to have ended', () => {
    const us = { campaign: 'blue', run: 'run-2' };
    expect(lockStanding(held(blue), us, 'ended').kind).toBe('left');
    expect(lockStanding(held(blue), us, 'running').kind).toBe('foreign');
    expect(lockStanding(held(blue), us, 'unknown').kind).toBe('foreign');
    expect(lockStanding(held(blue), { campaign: 'green', run: 'run-3' }, 'ended').kind).toBe('foreign');
    expect(lockStanding(held(blue), blue, 'running').kind).toBe('ours');
    expect(lockStanding(held(null), us, 'unknown').kind).toBe('free');
  });

  test('NR-89 a lock of which nobody knows whether anybody works on it is left alone, and the message says how a person goes on', () => {
    const message = (us: string, holderRun: HolderRun) => {
      const standing = lockStanding(held(blue), { campaign: us, run: 'run-2' }, holderRun);
      return standing.kind === 'foreign' ? standing.message : standing.kind;
    };
    expect(message('blue', 'unknown')).toContain(readLockByHand);
    expect(message('green', 'ended')).toContain(readLockByHand);
    expect(message('green', 'unknown')).toContain(readLockByHand);
    // Somebody works on it.
    expect(message('green', 'running')).not.toContain('kubectl');
    expect(message('blue', 'running')).not.toContain('kubectl');
  });

  test('NR-11 two that race: the second is refused, also where it read a free lock', () => {
    const green = { ...blue, campaign: 'green', run: 'run-9' };
    expect(mayTakeLock(held(null), green, null).ok).toBe(true);
    expect(mayTakeLock(held(blue), green, null)).toMatchObject({ ok: false });
  });

  test('taking it again after the answer was lost is no second taking', () => {
    expect(mayTakeLock(held(blue), blue, null).ok).toBe(true);
    // It has gone on since: what comes now comes too late.
    expect(mayTakeLock(held(later), blue, null).ok).toBe(false);
  });

  test('it is taken over just as it was seen, and not when the dead run has gone on since', () => {
    const taker = { ...later, run: 'run-2' };
    expect(mayTakeLock(held(blue), taker, blue).ok).toBe(true);
    expect(mayTakeLock(held(later), taker, blue).ok).toBe(false);
    expect(mayTakeLock(held(null), taker, blue).ok).toBe(false);
  });

  test('what comes late does not write to it', () => {
    expect(mayWriteLock(held(blue), later).ok).toBe(true);
    expect(mayWriteLock(held(later), later).ok).toBe(true);
    expect(mayWriteLock(held(later), blue).ok).toBe(false);
    expect(mayWriteLock(held({ ...blue, run: 'run-2' }), later).ok).toBe(false);
    expect(mayWriteLock(held({ ...blue, visit: { ...visit, startedAt: NOW + 9 } }), later).ok).toBe(false);
    expect(mayWriteLock(held(null), later).ok).toBe(false);
  });
});

describe('a campaign that finds the lock held', () => {
  const found = (holder: LockRecord, holderRun: 'ended' | 'running') =>
    observation(['n2'], { lock: read(held(holder)), holderRun });

  test('NR-12 NR-13 NR-14 refuses as long as another holds it, however long that is, and whichever way the clock jumps', () => {
    const campaign = new Campaign({ approval: 'None' });
    expect(campaign.sees(found(later, 'running'))).toMatchObject({ do: 'wait', for: { kind: 'lock' } });
    campaign.now += 30 * 24 * 3_600_000;
    expect(campaign.sees(found(later, 'ended'))).toMatchObject({ do: 'wait', for: { kind: 'lock' } });
    campaign.now = NOW - 30 * 24 * 3_600_000;
    expect(campaign.sees(found(later, 'ended'))).toMatchObject({ do: 'wait', for: { kind: 'lock' } });
  });

  test('NR-14 goes on under a lock of its own that is thirty days old, as on the first day', () => {
    const campaign = new Campaign().at('Returning', { rebootAt: NOW, hungSince: NOW });
    const first = campaign.next();
    expect(first.do).toBe('awaitReturn');
    campaign.now += 30 * 24 * 3_600_000;
    expect(campaign.next()).toEqual(first);
  });

  test('NR-12 refuses while a reboot daemon holds its own', () => {
    const campaign = new Campaign({ approval: 'None' });
    const seen = observation(['n1'], { foreignLock: read('kured holds its lock for n3') });
    expect(campaign.sees(seen)).toMatchObject({
      do: 'wait',
      for: { kind: 'lock', message: 'kured holds its lock for n3' },
    });
  });

  test.each([
    ['Locking', 'releaseLock'],
    ['Gating', 'releaseLock'],
    ['Cordoning', 'restore'],
    ['Moving', 'restore'],
    ['Draining', 'restore'],
    ['LastCheck', 'restore'],
    ['Rebooting', 'awaitReturn'],
    ['Returning', 'awaitReturn'],
    ['Checking', 'checkNode'],
    ['Uncordoning', 'checkNode'],
    ['Settling', 'settle'],
    ['Releasing', 'releaseLock'],
    ['Restoring', 'restore'],
  ] as const)(
    'NR-89 that an earlier run of its own left at %s goes on with %s, and cordons or reboots nothing',
    (phase, then) => {
      const campaign = new Campaign({ approval: 'None' });
      const untouched = phase === 'Locking' || phase === 'Gating';
      const left = {
        ...blue,
        campaign: 'control-plane',
        run: 'run-0',
        visit: { ...visit, phase, before: untouched ? null : before, rebootAt: NOW, bootedAs: 'n1-boot-2' },
      };
      expect(campaign.sees(found(left, 'ended'))).toMatchObject({ do: 'takeLock', replaces: left });
      expect(campaign.take({ of: 'takeLock', outcome: 'held', message: '' }).do).toBe(then);
      // And a person is asked before the next one.
      expect(campaign.state.visit?.personNext).toContain('earlier run');
    },
  );

  test('does not take it over in Shadow', () => {
    const campaign = new Campaign({ mode: 'Shadow' });
    const left = { ...later, campaign: 'control-plane', run: 'run-0' };
    expect(campaign.sees(found(left, 'ended'))).toMatchObject({ do: 'wait', for: { kind: 'enforce', node: 'n1' } });
  });
});
