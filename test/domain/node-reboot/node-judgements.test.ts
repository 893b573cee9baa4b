import { describe, expect, test } from 'vitest';
import { read } from '../../../src/domain/core/verdict.ts';
import { checkBoot, judgeSettled } from '../../../src/domain/node-reboot/check-node.ts';
import { nodesGate } from '../../../src/domain/node-reboot/gates/nodes.ts';
import { judgeReturn } from '../../../src/domain/node-reboot/judge-return.ts';
import { compareKernels, parseKernel } from '../../../src/domain/node-reboot/kernel.ts';
import type { LockRecord } from '../../../src/domain/node-reboot/lock.ts';
import { parseMark, formatMark } from '../../../src/domain/node-reboot/node.ts';
import { judgeCordon, judgeReboot, judgeUncordon } from '../../../src/domain/node-reboot/node-writes.ts';
import { newVisit, type Visit } from '../../../src/domain/node-reboot/visit.ts';
import { before, HOUR, kernelWish, MINUTE, newKernel, node, NOW, silent } from './world.ts';

const wish = kernelWish.packages.join(' ');
const visit: Visit = { ...newVisit('n1', wish, newKernel, NOW), before, rebootAt: NOW };
const deadline = NOW + 15 * MINUTE;
const back = node('n1', { bootId: 'n1-boot-2', kernel: newKernel, heartbeatAt: NOW + MINUTE });

describe('whether a node has come back', () => {
  test('H-D05 Ready with the old boot is not back, and never showing NotReady is no matter', () => {
    const polls = [
      node('n1'),
      node('n1', { heartbeatAt: NOW - 1 }),
      node('n1', { bootId: 'n1-boot-2', heartbeatAt: NOW - 1 }),
      back,
    ];
    expect(polls.map((seen) => judgeReturn(seen, visit, deadline, NOW + MINUTE).kind)).toEqual([
      'waiting',
      'waiting',
      'waiting',
      'returned',
    ]);
  });

  test('NR-90 the old boot at the deadline: NotReady hangs, Ready did nothing, and never the other way round', () => {
    const silent = node('n1', { ready: false, heartbeatAt: NOW - MINUTE });
    const ready = node('n1', { heartbeatAt: deadline });
    expect(judgeReturn(silent, visit, deadline, deadline).kind).toBe('hung');
    expect(judgeReturn(ready, visit, deadline, deadline).kind).toBe('didNothing');
    expect(judgeReturn(silent, visit, deadline, deadline - 1).kind).toBe('waiting');
    expect(judgeReturn(ready, visit, deadline, deadline - 1).kind).toBe('waiting');
  });

  test('NR-90 a node that is Ready on its old boot is not said to hang before its kubelet must have written again', () => {
    const short = NOW + 3 * MINUTE;
    const shown = node('n1', { ready: true, heartbeatAt: NOW - MINUTE });
    expect(judgeReturn(shown, visit, short, short).kind).toBe('waiting');
    expect(judgeReturn({ ...shown, heartbeatAt: NOW + 4 * MINUTE }, visit, short, NOW + 4 * MINUTE).kind).toBe(
      'didNothing',
    );
    expect(judgeReturn({ ...shown, ready: false }, visit, short, short).kind).toBe('hung');
    expect(judgeReturn(shown, visit, short, NOW + 10 * MINUTE).kind).toBe('hung');
  });

  test('a node that is off and still shows Ready does not count as one that is', () => {
    const stale = node('n1', { ready: true, heartbeatAt: NOW - 1 });
    expect(judgeReturn(stale, visit, deadline, deadline).kind).toBe('hung');
  });

  test('a node that hangs is watched on, until it returns or is seen to run the old boot', () => {
    const hung = { ...visit, hungSince: deadline };
    const silent = node('n1', { ready: false, heartbeatAt: NOW - MINUTE });
    expect(judgeReturn(silent, hung, Infinity, deadline + 9 * MINUTE).kind).toBe('waiting');
    expect(judgeReturn(node('n1', { heartbeatAt: deadline }), hung, Infinity, deadline + MINUTE).kind).toBe(
      'didNothing',
    );
    expect(judgeReturn(back, hung, Infinity, deadline + MINUTE).kind).toBe('returned');
  });
});

describe('a node that has come back', () => {
  const returned: Visit = { ...visit, bootedAs: 'n1-boot-2' };
  const rules = { kernelFloor: '6.13', memoryFloor: 90 };
  const gone = read(null);
  const reason = (of: Partial<typeof back>, sentinel = gone) => {
    const verdict = checkBoot({ node: { ...back, ...of }, sentinel }, returned, rules);
    return verdict.kind === 'fail' ? verdict.reason : verdict.kind;
  };

  test('passes where all is as it should be', () => {
    expect(reason({})).toBe('pass');
    expect(reason({ memory: 14_400 })).toBe('pass');
  });

  test('NR-56 fails below the kernel floor', () =>
    expect(reason({ kernel: '6.12.48-amd64' })).toBe('KernelBelowFloor'));
  test('NR-56 fails where its kernel cannot be read', () =>
    expect(reason({ kernel: 'rolling' })).toBe('KernelBelowFloor'));
  test('NR-57 fails where memory is lost', () => {
    expect(reason({ memory: 2_600 })).toBe('MemoryLost');
    expect(reason({ memory: 14_399 })).toBe('MemoryLost');
  });
  test('NR-58 fails with another kernel than was intended', () =>
    expect(reason({ kernel: '6.13.9' })).toBe('WrongKernel'));
  test('fails where it has rebooted once more', () => expect(reason({ bootId: 'n1-boot-3' })).toBe('RebootedAgain'));
  test('fails where the wish is still there, and not for another wish', () => {
    expect(checkBoot({ node: back, sentinel: read(kernelWish) }, returned, rules)).toMatchObject({
      reason: 'SentinelStays',
    });
    const other = read({ packages: ['libc6'], kernel: null });
    expect(checkBoot({ node: back, sentinel: other }, returned, rules).kind).toBe('pass');
  });
  test('is unmeasured where the wish cannot be read', () => {
    expect(checkBoot({ node: back, sentinel: silent<null>('n1') }, returned, rules).kind).toBe('unmeasured');
  });
});

describe('a write to a node', () => {
  const record: LockRecord = { campaign: 'blue', run: 'run-1', visit: { ...visit, rebootAt: null }, reason: '' };
  const mark = { campaign: 'blue', run: 'run-1' };
  const ours = node('n1', { unschedulable: true, cordonedBy: mark, cordonManager: 'holdfast-node-reboot' });

  test('NR-50 a cordon whose answer was lost is seen to be done', () => {
    expect(judgeCordon(node('n1'), record, deadline, NOW).kind).toBe('write');
    expect(judgeCordon(ours, record, deadline, NOW).kind).toBe('done');
  });

  test('a cordon is refused after anything has changed since the gates were read', () => {
    const changed = [
      { bootId: 'n1-boot-2' },
      { unschedulable: true },
      { cordonedBy: { campaign: 'green', run: 'run-7' } },
      { unschedulable: true, cordonedBy: { campaign: 'blue', run: 'run-0' } },
      { lastVisitAt: NOW },
    ];
    for (const one of changed) expect(judgeCordon(node('n1', one), record, deadline, NOW).kind).toBe('refused');
    expect(judgeCordon(node('n1', { lastVisitAt: NOW - 1 }), record, deadline, NOW).kind).toBe('write');
    expect(judgeCordon(node('n1'), record, deadline, deadline + 1).kind).toBe('stale');
  });

  test('NR-47 NR-48 a reboot is told once to a boot', () => {
    expect(judgeReboot(ours, record, false, deadline, NOW).kind).toBe('write');
    expect(judgeReboot(ours, record, true, deadline, NOW).kind).toBe('done');
    expect(judgeReboot({ ...ours, bootId: 'n1-boot-2' }, record, true, deadline, NOW).kind).toBe('done');
  });

  test('NR-49 a boot that has changed, a node that somebody uncordoned and a reading too old are not rebooted', () => {
    expect(judgeReboot({ ...ours, bootId: 'n1-boot-2' }, record, false, deadline, NOW).kind).toBe('rebooted');
    expect(judgeReboot({ ...ours, unschedulable: false }, record, false, deadline, NOW).kind).toBe('refused');
    expect(judgeReboot({ ...ours, cordonedBy: null }, record, false, deadline, NOW).kind).toBe('refused');
    expect(judgeReboot(ours, record, false, deadline, deadline + 1).kind).toBe('stale');
  });

  test('H-D04 NR-46 a cordon that is not ours stays', () => {
    const people = { ...record, visit: { ...record.visit, before: { ...before, unschedulable: true } } };
    expect(judgeUncordon(ours, record)).toEqual({ kind: 'write', uncordon: true });
    expect(judgeUncordon(ours, people)).toEqual({ kind: 'write', uncordon: false });
    expect(judgeUncordon({ ...ours, cordonManager: 'kubectl-cordon' }, record)).toEqual({
      kind: 'write',
      uncordon: false,
    });
    expect(judgeUncordon({ ...ours, cordonedBy: { campaign: 'green', run: 'x' } }, record).kind).toBe('refused');
  });

  test("a cordon of which the mark is gone is nobody's, and is not said to be given back", () => {
    const unmarked = { ...ours, cordonedBy: null };
    expect(judgeUncordon(unmarked, record)).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('our mark') as string,
    });
    expect(judgeUncordon({ ...unmarked, unschedulable: false }, record)).toEqual({ kind: 'write', uncordon: false });
    const people = { ...record, visit: { ...record.visit, before: { ...before, unschedulable: true } } };
    expect(judgeUncordon(unmarked, people)).toEqual({ kind: 'write', uncordon: false });
  });

  test('after a reboot a node is uncordoned on the boot that was checked, and on no other', () => {
    const rebooted = { ...record, visit: { ...visit, bootedAs: 'n1-boot-2' } };
    expect(judgeUncordon({ ...ours, bootId: 'n1-boot-2' }, rebooted).kind).toBe('write');
    expect(judgeUncordon({ ...ours, bootId: 'n1-boot-3' }, rebooted).kind).toBe('refused');
    expect(judgeUncordon(ours, { ...record, visit }).kind).toBe('refused');
  });

  test('a node that rebooted by itself before it was told to is not given back: nobody has checked that boot', () => {
    const draining = { ...record, visit: { ...visit, rebootAt: null } };
    expect(judgeUncordon(ours, draining)).toEqual({ kind: 'write', uncordon: true });
    expect(judgeUncordon({ ...ours, bootId: 'n1-boot-2' }, draining).kind).toBe('refused');
  });

  test('a node that is back at work must stay on the boot that was checked, until the turn ends', () => {
    expect(judgeSettled(read(node('n1', { bootId: 'two' })), 'n1', 'two', NOW).kind).toBe('pass');
    expect(judgeSettled(read(node('n1', { bootId: 'three' })), 'n1', 'two', NOW)).toMatchObject({
      reason: 'RebootedAgain',
    });
    expect(judgeSettled(read(node('n1', { bootId: 'two', ready: false })), 'n1', 'two', NOW).kind).toBe('unmeasured');
  });

  test('a mark is read back as it was written, and one that is not ours is somebody else’s', () => {
    expect(parseMark(formatMark(mark))).toEqual(mark);
    expect(parseMark('by hand')).toEqual({ campaign: 'by hand', run: '' });
  });
});

describe('the nodes gate', () => {
  const three = (overrides: Partial<ReturnType<typeof node>>) => read([node('n1'), node('n2', overrides), node('n3')]);
  const reason = (of: Partial<ReturnType<typeof node>>) => {
    const { verdict } = nodesGate(three(of), 'n1', 'before', NOW);
    return verdict.kind === 'fail' ? verdict.reason : verdict.kind;
  };

  test('passes with all in', () => expect(reason({})).toBe('pass'));
  test('NR-30 another node that a person cordoned', () => expect(reason({ unschedulable: true })).toBe('NodeOut'));
  test('NR-31 another node that is not Ready', () => expect(reason({ ready: false })).toBe('NodeOut'));
  test('is unmeasured where another node is shown as Ready and its kubelet has been silent, as where the control plane stands still', () => {
    const silentFor = (ms: number | null) => reason({ heartbeatAt: ms === null ? null : NOW - ms });
    // A kubelet writes every five minutes or so, kwok every twenty.
    expect(silentFor(21 * MINUTE)).toBe('pass');
    expect(silentFor(-21 * MINUTE)).toBe('pass');
    expect(silentFor(HOUR)).toBe('unmeasured');
    expect(silentFor(null)).toBe('unmeasured');
    expect(nodesGate(three({ heartbeatAt: NOW - HOUR }), 'n1', 'before', NOW).verdict).toMatchObject({
      message: expect.stringMatching(/n2 .* since 2026-03-02T11:00:00/) as string,
    });
    // Of one that is not Ready it is known.
    expect(reason({ heartbeatAt: NOW - HOUR, ready: false })).toBe('NodeOut');
    const own = node('n1', { bootId: 'two', heartbeatAt: NOW - HOUR });
    expect(judgeSettled(read(own), 'n1', 'two', NOW).kind).toBe('unmeasured');
  });
  test('is unmeasured where nobody answers', () => {
    expect(nodesGate(silent('nodes'), 'n1', 'before', NOW).verdict.kind).toBe('unmeasured');
  });
  test('the node itself may be cordoned, and carries no mark before its turn', () => {
    const own = (of: Partial<ReturnType<typeof node>>, stage: 'before' | 'last') =>
      nodesGate(read([node('n1', of), node('n2')]), 'n1', stage, NOW).verdict.kind;
    expect(own({ unschedulable: true }, 'before')).toBe('pass');
    expect(own({ cordonedBy: { campaign: 'blue', run: 'r' } }, 'before')).toBe('fail');
    expect(own({ cordonedBy: { campaign: 'blue', run: 'r' }, unschedulable: true }, 'last')).toBe('pass');
  });
  test('a node that is gone fails', () =>
    expect(nodesGate(read([node('n2')]), 'n1', 'before', NOW).verdict.kind).toBe('fail'));
});

describe('kernels', () => {
  test.each([
    ['6.13', '6.13.0', 0],
    ['6.14.0-37-generic', '6.14.0-9-generic', 1],
    ['6.9.12', '6.13.1', -1],
    ['6.13.12+rpt-rpi-v8', '6.13', 1],
    ['6.14.0-rc3', '6.14', -1],
    ['6.14-rc3-amd64', '6.14.0-37-generic', -1],
    ['6.14.0-061400rc3-generic', '6.14', -1],
    ['6.14.0-rc10', '6.14.0-rc9', 1],
    ['6.14.0-rc1', '6.13.99-1', 1],
    ['6.12.9+deb13-cloud-amd64', '6.12.9+deb13-amd64', 0],
  ])('%s beside %s: %i', (a, b, expected) => {
    const [one, other] = [parseKernel(a), parseKernel(b)];
    if (one === null || other === null) throw new Error('no kernel');
    expect(Math.sign(compareKernels(one, other))).toBe(expected);
  });

  test.each(['', 'generic', 'v6.13', '6', '6.x'])('%j is none', (text) => {
    expect(parseKernel(text)).toBeNull();
  });
});
