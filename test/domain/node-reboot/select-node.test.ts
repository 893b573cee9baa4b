import { describe, expect, test } from 'vitest';
import { read } from '../../../src/domain/core/verdict.ts';
import { readSentinel } from '../../../src/domain/node-reboot/sentinel.ts';
import { selectNode } from '../../../src/domain/node-reboot/select-node.ts';
import { Campaign, HOUR, kernelWish, newKernel, node, NOW, observation, oldKernel, silent, spec } from './world.ts';

const neverSecond = spec({ neverFirst: ['n2'] });

describe('which node is next', () => {
  test('NR-1 no node wants a reboot: no lock, no cordon, no request for an approval', () => {
    const campaign = new Campaign();
    expect(campaign.sees(observation([]))).toMatchObject({ do: 'wait', for: { kind: 'sentinel' } });
  });

  test('NR-2 only a node that is not to be the first wants it: refused, with the reason', () => {
    const selection = selectNode(neverSecond, observation(['n2']), {});
    expect(selection).toMatchObject({ kind: 'refused', node: 'n2', reason: 'NeverFirst' });
    expect(selection).toMatchObject({ message: expect.stringContaining(`first to boot ${newKernel}`) as string });
  });

  test('NR-3 all want it: the order of the spec, and never the one that is not to be first', () => {
    expect(selectNode(neverSecond, observation(['n1', 'n2', 'n3']), {})).toMatchObject({ next: { node: 'n1' } });
    const turned = observation(['n1', 'n2', 'n3'], { order: read(['n2', 'n3', 'n1']) });
    expect(selectNode(neverSecond, turned, {})).toMatchObject({ next: { node: 'n3' } });
  });

  test('NR-4 once another node runs the kernel, it is next', () => {
    const nodes = read([node('n1', { kernel: newKernel }), node('n2'), node('n3')]);
    expect(selectNode(neverSecond, observation(['n2', 'n3'], { nodes }), {})).toMatchObject({ next: { node: 'n2' } });
  });

  test('NR-4 a newer kernel on another node proves nothing of the one that is to be booted', () => {
    const nodes = read([node('n1', { kernel: '6.15.0-3-generic' }), node('n2'), node('n3')]);
    const selection = selectNode(neverSecond, observation(['n2'], { nodes }), {});
    expect(selection).toMatchObject({ kind: 'refused', reason: 'NeverFirst' });
    expect(selection).toMatchObject({ message: expect.stringContaining('take n2 out of neverFirst') as string });
  });

  test('NR-8 a node that wants the same reboot again after one is left alone', () => {
    const done = { n1: { sentinel: kernelWish.packages.join(' '), bootId: 'n1-boot-2', kernel: newKernel, at: NOW } };
    expect(selectNode(spec(), observation(['n1', 'n3']), done)).toMatchObject({
      kind: 'refused',
      reason: 'RebootLoop',
    });
    // The same packages are updated again some day.
    const nextMonth = observation(['n1', 'n3'], { at: NOW + 30 * 24 * HOUR });
    expect(selectNode(spec(), nextMonth, done)).toMatchObject({ kind: 'next', next: { node: 'n1' } });
    const other = read({ packages: ['libc6'], kernel: null });
    expect(
      selectNode(spec(), observation([], { sentinels: { n1: other, n2: read(null), n3: read(null) } }), done),
    ).toMatchObject({
      next: { node: 'n1' },
    });
  });

  test('NR-9 a kernel below the floor is refused', () => {
    const old = readSentinel('n1', {
      present: true,
      packages: 'linux-image-6.12.9-amd64\nlinux-base\n',
      running: oldKernel,
    });
    const seen = observation([], { sentinels: { n1: old, n2: read(null), n3: read(null) } });
    expect(selectNode(spec(), seen, {})).toMatchObject({ kind: 'refused', node: 'n1', reason: 'KernelBelowFloor' });
  });

  test('NR-9 a reason that is missing, empty or malformed is unmeasured, and no "no"', () => {
    for (const packages of [null, '', '\n \n', 'linux-image-6.14.0\n$(reboot)\n', '\u0000\u0001']) {
      const sentinel = readSentinel('n1', { present: true, packages, running: oldKernel });
      expect(sentinel.kind).toBe('unmeasured');
      const seen = observation(['n3'], { sentinels: { n1: sentinel, n2: read(null), n3: read(kernelWish) } });
      // Nor does one behind it go: this one may be next.
      expect(selectNode(spec(), seen, {}).kind).toBe('unmeasured');
    }
  });

  test('a sentinel without its reason, as a bare touch leaves it, says what to do on the node', () => {
    for (const packages of [null, '\n']) {
      const { message } = readSentinel('n1', { present: true, packages, running: oldKernel }) as { message: string };
      expect(message).toContain('echo NAME > /run/reboot-required.pkgs');
      expect(message).toContain('rm /run/reboot-required');
    }
  });

  test('a node that cannot be asked holds back those behind it, and none before it', () => {
    const sentinels = { n1: read(kernelWish), n2: silent<null>('n2'), n3: read(kernelWish) };
    expect(selectNode(spec(), observation([], { sentinels }), {})).toMatchObject({ next: { node: 'n1' } });
    expect(selectNode(spec(), observation([], { sentinels: { ...sentinels, n1: read(null) } }), {}).kind).toBe(
      'unmeasured',
    );
  });

  test('a node that the spec names and the cluster has not is unmeasured, and not passed over', () => {
    const seen = observation(['n1'], { order: read(['gone', 'n1']) });
    expect(selectNode(spec(), seen, {})).toMatchObject({
      kind: 'unmeasured',
      message: expect.stringContaining('gone') as string,
    });
  });
});

describe('why a node wants a reboot', () => {
  test.each([
    ['linux-image-6.14.0-37-generic\nlinux-image-6.14.0-9-generic\nlinux-base', '6.14.0-37-generic'],
    ['linux-image-unsigned-6.13.4-2-amd64', '6.13.4-2-amd64'],
    ['linux-image-6.14.0-37-generic:amd64', '6.14.0-37-generic'],
    ['linux-image-6.14.0-37-generic:amd64\nlinux-image-6.14.0-37-generic', '6.14.0-37-generic'],
    ['linux-image-6.14-rc3-amd64\nlinux-image-6.14-amd64', '6.14-amd64'],
    ['libc6\ndbus', null],
    ['linux-image-generic', null],
  ])('of %j the kernel is %j', (packages, kernel) => {
    expect(readSentinel('n1', { present: true, packages, running: oldKernel })).toMatchObject({ value: { kernel } });
  });

  test.each([
    ['6.12.25+rpt-rpi-v8', '6.12.34+rpt-rpi-v8'],
    ['6.12.25+rpt-rpi-2712', '6.12.34+rpt-rpi-2712'],
  ])('of two flavours of one release, a node that runs %s is to boot %s', (running, kernel) => {
    const packages = 'linux-image-6.12.34+rpt-rpi-2712\nlinux-image-6.12.34+rpt-rpi-v8';
    expect(readSentinel('n1', { present: true, packages, running })).toMatchObject({ value: { kernel } });
  });

  test('of two flavours of one release, neither of which runs, nobody can say which is meant', () => {
    const packages = 'linux-image-6.14.0-37-generic\nlinux-image-6.14.0-37-lowlatency';
    for (const running of ['6.13.5-1-raspi', null]) {
      expect(readSentinel('n1', { present: true, packages, running })).toMatchObject({
        kind: 'unmeasured',
        why: 'unparsed',
        message: expect.stringContaining('6.14.0-37-generic, 6.14.0-37-lowlatency') as string,
      });
    }
  });

  test('no sentinel is no wish, whatever the other file says', () => {
    expect(readSentinel('n1', { present: false, packages: 'libc6', running: oldKernel })).toEqual(read(null));
  });
});
