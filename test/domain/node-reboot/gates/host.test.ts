import { describe, expect, test } from 'vitest';
import { read, unmeasured } from '../../../../src/domain/core/verdict.ts';
import {
  hostGates,
  kernelGate,
  logindCapGate,
  packageManagerGate,
} from '../../../../src/domain/node-reboot/gates/host.ts';
import { readHost, type HostAnswers } from '../../../../src/domain/node-reboot/host-facts.ts';

const kubelet = ['shutdown', 'kubelet', 'Kubelet needs time to handle node shutdown', 'delay', 0, 812] as const;
const networkManager = [
  'sleep',
  'NetworkManager',
  'NetworkManager needs to turn off networks',
  'delay',
  0,
  700,
] as const;

const answers: HostAnswers = {
  inhibitors: read({ type: 'a(ssssuu)', data: [[networkManager, kubelet]] }),
  inhibitDelayMax: read('t 90000000\n'),
  kubelet: read({ kubeletconfig: { shutdownGracePeriod: '1m30s', shutdownGracePeriodCriticalPods: '30s' } }),
  fileLocks: read({
    locks: [
      { command: 'cron', pid: 500, path: '/run/crond.pid' },
      { command: 'x', pid: 1, path: null },
    ],
  }),
  bootFiles: read([
    'config-6.14.0-37-generic',
    'initrd.img-6.8.0-90-generic',
    'initrd.img-6.14.0-37-generic',
    'vmlinuz',
    'vmlinuz-6.8.0-90-generic',
    'vmlinuz-6.14.0-37-generic',
  ]),
};

const timedOut = unmeasured('the host', 'node-1', 'timeout', 'its pod did not end in time');

function cap(changes: Partial<HostAnswers> = {}) {
  return logindCapGate(readHost('node-1', { ...answers, ...changes }), 'node-1').verdict;
}

describe('time for the kubelet at a shutdown', () => {
  test('an inhibitor that is held, and a cap as long as the grace period, let a node go', () => {
    expect(cap().kind).toBe('pass');
    expect(cap({ inhibitDelayMax: read('InhibitDelayMaxUSec=infinity') }).kind).toBe('pass');
  });

  test('NR-38 a kubelet without its inhibitor holds the node back', () => {
    expect(cap({ inhibitors: read({ data: [[networkManager]] }) })).toMatchObject({ reason: 'NoInhibitor' });
    expect(cap({ inhibitors: read({ data: [[]] }) })).toMatchObject({ reason: 'NoInhibitor' });
    const onlySleep = ['sleep', 'kubelet', '', 'delay', 0, 812];
    expect(cap({ inhibitors: read({ data: [[onlySleep]] }) })).toMatchObject({ reason: 'NoInhibitor' });
  });

  test('NR-38 a cap of 30 s below a grace period of 90 s holds the node back, as a drop-in of a package may set it', () => {
    for (const shown of ['t 30000000', 'InhibitDelayMaxUSec=30s']) {
      expect(cap({ inhibitDelayMax: read(shown) })).toMatchObject({
        kind: 'fail',
        reason: 'LogindCapTooShort',
        message: 'logind of node node-1 lets a shutdown be delayed for 30s, and the kubelet takes 1m30s',
      });
    }
  });

  test('NR-39 a grace period of 1m30s is 90 s: a cap of 90 s covers it, and one of 89 s does not', () => {
    expect(cap({ inhibitDelayMax: read('InhibitDelayMaxSec=1min 30s') }).kind).toBe('pass');
    expect(cap({ inhibitDelayMax: read('t 89999999') }).kind).toBe('fail');
  });

  test('what could not be read or understood is unmeasured', () => {
    expect(cap({ inhibitors: timedOut })).toBe(timedOut);
    expect(cap({ inhibitDelayMax: timedOut })).toBe(timedOut);
    expect(cap({ kubelet: timedOut })).toBe(timedOut);
    expect(cap({ inhibitDelayMax: read('') })).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
    expect(cap({ kubelet: read({ kubeletconfig: { shutdownGracePeriod: 'soon' } }) })).toMatchObject({
      why: 'unparsed',
    });
    expect(cap({ inhibitors: read('') })).toMatchObject({ why: 'unparsed' });
  });
});

describe('package managers', () => {
  const gate = (fileLocks: HostAnswers['fileLocks']) =>
    packageManagerGate(readHost('node-1', { ...answers, fileLocks }), 'node-1').verdict;

  test('NR-40 a lock of dpkg or apt is waited for, and says who holds it', () => {
    for (const path of ['/var/lib/dpkg/lock-frontend', '/var/lib/dpkg/lock', '/var/lib/apt/lists/lock']) {
      expect(gate(read({ locks: [{ command: 'unattended-upgr', pid: 4711, path }] }))).toMatchObject({
        kind: 'fail',
        reason: 'PackageManagerBusy',
        message: 'at work on node node-1: unattended-upgr (4711)',
      });
    }
  });

  test('other locks do not matter, and locks that were not read are unmeasured', () => {
    expect(gate(answers.fileLocks).kind).toBe('pass');
    expect(gate(timedOut)).toBe(timedOut);
    expect(gate(read({}))).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
  });
});

describe('the kernel of the next boot', () => {
  const gate = (names: readonly string[], intended: string | null, floor: string | null = null) =>
    kernelGate(readHost('node-1', { ...answers, bootFiles: read(names) }), 'node-1', { intended, floor }).verdict;
  const boot = answers.bootFiles.kind === 'read' ? answers.bootFiles.value : [];

  test('the newest that can be booted is the intended one', () => {
    expect(gate(boot, '6.14.0-37-generic', '6.13').kind).toBe('pass');
    expect(gate(boot, null).kind).toBe('pass');
  });

  test('another one than the intended, or one below the floor, holds the node back', () => {
    expect(gate(boot, '6.8.0-90-generic')).toMatchObject({ reason: 'WrongKernel' });
    expect(gate(boot, '6.14.0-37-generic', '6.15')).toMatchObject({ reason: 'KernelBelowFloor' });
  });

  test('a kernel whose initial ramdisk is missing is not one that can be booted', () => {
    expect(gate([...boot, 'vmlinuz-6.17.0-1-generic'], '6.14.0-37-generic').kind).toBe('pass');
    expect(gate(['vmlinuz-6.17.0-1-generic'], '6.17.0-1-generic').kind).toBe('pass');
  });

  test('no kernel, and two that are equally new, are unmeasured', () => {
    expect(gate(['kernel8.img'], null)).toMatchObject({ kind: 'unmeasured', why: 'empty' });
    const two = ['vmlinuz-6.14.0-37-generic', 'vmlinuz-6.14.0-37-lowlatency'];
    expect(gate(two, '6.14.0-37-generic')).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
    const facts = readHost('node-1', { ...answers, bootFiles: timedOut });
    expect(kernelGate(facts, 'node-1', { intended: null, floor: null }).verdict).toBe(timedOut);
  });
});

test('each of what the host says is a gate of its own, and asked only where the spec wants it', () => {
  const facts = readHost('node-1', answers);
  const expected = { intended: null, floor: null };
  const names = (spec: Parameters<typeof hostGates>[1]) =>
    hostGates(facts, spec, 'node-1', expected).map(({ gate }) => gate);
  expect(names({ logindCap: true, packageManager: true, kernel: true })).toEqual([
    'host.logindCap',
    'host.packageManager',
    'host.kernel',
  ]);
  expect(names({ logindCap: false, packageManager: true, kernel: false })).toEqual(['host.packageManager']);
});
