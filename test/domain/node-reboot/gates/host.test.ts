import { describe, expect, test } from 'vitest';
import { read, unmeasured } from '../../../../src/domain/core/verdict.ts';
import {
  hostGates,
  kernelGate,
  logindCapGate,
  packageManagerGate,
} from '../../../../src/domain/node-reboot/gates/host.ts';
import { parseHostFacts } from '../../../../src/domain/node-reboot/host-facts.ts';
import { readHostReadiness } from '../../../../src/domain/node-reboot/host-readiness.ts';

const kubelet = ['shutdown', 'kubelet', 'Kubelet needs time to handle node shutdown', 'delay', 0, 812];
const networkManager = ['sleep', 'NetworkManager', 'NetworkManager needs to turn off networks', 'delay', 0, 700];

const kernels = [
  'initrd.img-6.8.0-90-generic',
  'initrd.img-6.14.0-37-generic',
  'vmlinuz-6.8.0-90-generic',
  'vmlinuz-6.14.0-37-generic',
];

const sections = {
  begin: '',
  inhibitors: inhibitorsOf(networkManager, kubelet),
  delay: 't 90000000',
  locks: '',
  kernels: kernels.join('\n'),
  grace: '[Login]\nInhibitDelayMaxSec=90',
  boot: '8c0d7b3e-0d4f-4a53-9f6b-5a4b3f1f0c11',
  end: '',
};

const timedOut = unmeasured('the host', 'node-1', 'timeout', 'its pod did not end in time');

function inhibitorsOf(...inhibitors: readonly (readonly (string | number)[])[]): string {
  return JSON.stringify({ type: 'a(ssssuu)', data: [inhibitors] });
}

/** A report with sections that are another; those that are undefined are left out. */
function report(changes: Readonly<Record<string, string | undefined>> = {}): string {
  return Object.entries({ ...sections, ...changes })
    .filter(([, text]) => text !== undefined)
    .map(([name, text]) => `--holdfast-- ${name}\n${text}\n`)
    .join('');
}

function readiness(changes: Readonly<Record<string, string | undefined>> = {}, grace: number | null = null) {
  return readHostReadiness('node-1', read(report(changes)), grace);
}

const unread = readHostReadiness('node-1', timedOut, null);

describe('the report of a host', () => {
  test('tells boot and sentinel beside', () => {
    expect(parseHostFacts('node-1', report())).toEqual(read({ bootId: sections.boot, sentinel: read(null) }));
  });

  test('that was cut short, or is empty, leaves everything unmeasured', () => {
    const cut = readHostReadiness('node-1', read(report({ end: undefined })), null);
    expect(cut.packageManagers).toMatchObject({ kind: 'unmeasured', why: 'truncated' });
    expect(readHostReadiness('node-1', read(''), null).inhibitors).toMatchObject({ why: 'empty' });
  });

  test('that is longer than a kubelet keeps is seen as cut short, since its end is kept and its beginning is not', () => {
    const packages = Array.from({ length: 300 }, (_, index) => `a-package-${index}`).join('\n');
    const long = report({ sentinel: '', packages });
    for (const kept of [4_096, long.length - 1]) {
      const facts = parseHostFacts('node-1', long.slice(-kept));
      expect(facts).toMatchObject({ kind: 'unmeasured', why: 'truncated' });
      expect(facts).toMatchObject({ message: expect.stringContaining('4096 bytes') as string });
    }
    expect(parseHostFacts('node-1', long).kind).toBe('read');
  });
});

describe('time for the kubelet at a shutdown', () => {
  const cap = (changes: Readonly<Record<string, string | undefined>> = {}, grace: number | null = null) =>
    logindCapGate(readiness(changes, grace), 'node-1').verdict;

  test('an inhibitor that is held, and a cap as long as the grace period, let a node go', () => {
    expect(cap().kind).toBe('pass');
    expect(cap({ delay: 't 18446744073709551615' }).kind).toBe('pass');
  });

  test('NR-38 a kubelet without its inhibitor holds the node back', () => {
    const onlySleep = ['sleep', 'kubelet', '', 'delay', 0, 812];
    const blocking = ['shutdown', 'kubelet', '', 'block', 0, 812];
    const other = ['shutdown', 'unattended-upgrades', '', 'delay', 0, 813];
    for (const inhibitors of [[networkManager], [], [onlySleep], [blocking], [other]]) {
      expect(cap({ inhibitors: inhibitorsOf(...inhibitors) })).toMatchObject({ kind: 'fail', reason: 'NoInhibitor' });
    }
  });

  test('NR-38 a kubelet that was never told to delay a shutdown is known to hold none, though nothing else can be read', () => {
    const changes = { inhibitors: inhibitorsOf(networkManager), delay: undefined, grace: undefined };
    expect(cap(changes)).toMatchObject({ kind: 'fail', reason: 'NoInhibitor' });
  });

  test('NR-38 a cap of 30 s below a grace period of 90 s holds the node back, as a drop-in of a package may set it', () => {
    expect(cap({ delay: 't 30000000' })).toMatchObject({
      kind: 'fail',
      reason: 'LogindCapTooShort',
      message: 'logind of node node-1 lets a shutdown be delayed for 30s, and the kubelet takes 1m30s',
    });
  });

  test('NR-39 a grace period of 1m30s is 90 s: a cap of 90 s covers it, and one that is any shorter does not', () => {
    for (const grace of ['InhibitDelayMaxSec=90', 'InhibitDelayMaxSec=1m30s', 'InhibitDelayMaxSec=1min 30s']) {
      expect(cap({ grace, delay: 't 90000000' }).kind).toBe('pass');
      expect(cap({ grace, delay: 't 89999999' }).kind).toBe('fail');
    }
  });

  test('the grace period that the spec names counts, whatever the file of the kubelet says', () => {
    expect(cap({ grace: undefined }, 90_000).kind).toBe('pass');
    expect(cap({}, 90_001).kind).toBe('fail');
  });

  test('what could not be read or understood is unmeasured', () => {
    expect(logindCapGate(unread, 'node-1').verdict).toBe(timedOut);
    expect(cap({ inhibitors: undefined })).toMatchObject({ kind: 'unmeasured', why: 'missing' });
    expect(cap({ inhibitors: 'sh: busctl: not found' })).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
    expect(cap({ inhibitors: '{"type":"as","data":[["a"]]}' })).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
    expect(cap({ delay: undefined })).toMatchObject({ kind: 'unmeasured', why: 'missing' });
    expect(cap({ delay: '30s' })).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
    expect(cap({ grace: 'InhibitDelayMaxSec=soon' })).toMatchObject({ why: 'unparsed' });
    expect(cap({ grace: '[Login]' })).toMatchObject({ why: 'unparsed' });
    expect(cap({ grace: undefined })).toMatchObject({ why: 'missing' });
  });
});

describe('package managers', () => {
  const gate = (locks: string | undefined) => packageManagerGate(readiness({ locks }), 'node-1').verdict;

  test.each(['/var/lib/dpkg/lock-frontend', '/var/lib/dpkg/lock', '/var/lib/apt/lists/lock'])(
    'NR-40 a lock on %s is waited for, and says who holds it',
    (path) => {
      expect(gate(`unattended-upgr 4711 ${path}`)).toMatchObject({
        kind: 'fail',
        reason: 'PackageManagerBusy',
        message: 'at work on node node-1: unattended-upgr (4711)',
      });
    },
  );

  test('no lock, and locks of other files, do not matter', () => {
    expect(gate('').kind).toBe('pass');
    expect(gate('x 12 /srv/var/lib/dpkg/lock\ny 13 /var/lib/dpkg/lock-old').kind).toBe('pass');
  });

  test('locks that were not read or not understood are unmeasured', () => {
    expect(gate(undefined)).toMatchObject({ kind: 'unmeasured', why: 'missing' });
    expect(gate('lslocks: failed')).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
    expect(packageManagerGate(unread, 'node-1').verdict).toBe(timedOut);
  });
});

describe('the kernel of the next boot', () => {
  const gate = (names: readonly string[], intended: string | null, floor: string | null = null) =>
    kernelGate(readiness({ kernels: names.join('\n') }), 'node-1', { intended, floor }).verdict;

  test('the newest that can be booted is the intended one', () => {
    expect(gate(kernels, '6.14.0-37-generic', '6.13').kind).toBe('pass');
    expect(gate(kernels, null).kind).toBe('pass');
  });

  test('another one than the intended, or one below the floor, holds the node back', () => {
    expect(gate(kernels, '6.8.0-90-generic')).toMatchObject({ reason: 'WrongKernel' });
    expect(gate(kernels, '6.14.0-37-generic', '6.15')).toMatchObject({ reason: 'KernelBelowFloor' });
  });

  test('a kernel whose initial ramdisk is missing is not one that can be booted', () => {
    expect(gate([...kernels, 'vmlinuz-6.17.0-1-generic'], '6.14.0-37-generic').kind).toBe('pass');
    expect(gate(['vmlinuz-6.17.0-1-generic'], '6.17.0-1-generic').kind).toBe('pass');
  });

  test('of two flavours of one release the one that runs is booted', () => {
    const two = ['vmlinuz-6.12.34+rpt-rpi-2712', 'vmlinuz-6.12.34+rpt-rpi-v8'];
    const facts = readiness({ kernels: two.join('\n'), running: '6.12.25+rpt-rpi-v8' });
    expect(facts.newestKernel).toEqual(read('6.12.34+rpt-rpi-v8'));
  });

  test('no kernel, and two that are equally new of flavours that do not run, are unmeasured', () => {
    expect(gate(['vmlinuz-old'], null)).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
    const two = ['vmlinuz-6.14.0-37-generic', 'vmlinuz-6.14.0-37-lowlatency'];
    expect(gate(two, '6.14.0-37-generic')).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
    const none = kernelGate(readiness({ kernels: undefined }), 'node-1', { intended: null, floor: null }).verdict;
    expect(none).toMatchObject({ kind: 'unmeasured', why: 'missing' });
    expect(kernelGate(unread, 'node-1', { intended: null, floor: null }).verdict).toBe(timedOut);
  });
});

test('each of what the host says is a gate of its own, and asked only where the spec wants it', () => {
  const expected = { intended: null, floor: null };
  const names = (spec: Parameters<typeof hostGates>[1]) =>
    hostGates(readiness(), spec, 'node-1', expected).map(({ gate }) => gate);
  expect(names({ logindCap: true, packageManager: true, kernel: true })).toEqual([
    'host.logindCap',
    'host.packageManager',
    'host.kernel',
  ]);
  expect(names({ logindCap: false, packageManager: true, kernel: false })).toEqual(['host.packageManager']);
});
