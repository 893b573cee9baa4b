import { describe, expect, test } from 'vitest';
import { read, unmeasured } from '../../../../src/domain/core/verdict.ts';
import { nfsGate, readNfsMounts } from '../../../../src/domain/node-reboot/gates/nfs.ts';
import { podObject } from '../pod-object.ts';

function claim(name: string, volumeName?: string) {
  return { metadata: { namespace: 'shop', name }, spec: volumeName === undefined ? {} : { volumeName } };
}

const claims = read([
  claim('photos', 'pv-nfs'),
  claim('data', 'pv-block'),
  claim('cache-scratch', 'pv-csi'),
  claim('new'),
]);
const volumes = read([
  { metadata: { name: 'pv-nfs' }, spec: { nfs: { server: 'nas-1', path: '/photos' } } },
  {
    metadata: { name: 'pv-block' },
    spec: { csi: { driver: 'driver.longhorn.io', volumeAttributes: { server: 'x' } } },
  },
  { metadata: { name: 'pv-csi' }, spec: { csi: { driver: 'nfs.csi.k8s.io', volumeAttributes: { server: 'nas-2' } } } },
]);

function mounting(name: string, ...volumesOfPod: readonly object[]) {
  return podObject({ name, volumes: volumesOfPod });
}

const byClaim = (claimName: string) => ({ name: claimName, persistentVolumeClaim: { claimName } });

function gate(
  pods: readonly object[],
  answers: Parameters<typeof nfsGate>[0]['answers'],
  servers = ['nas-1', 'nas-2'],
) {
  return nfsGate({ mounts: readNfsMounts(read(pods), claims, volumes), answers }, { servers }).verdict;
}

describe('NFS servers', () => {
  test('all servers that pods on the node mount are found: by claim, by CSI, ephemeral, and without a claim', () => {
    const pods = [
      mounting('web', byClaim('photos'), byClaim('data'), { name: 'tmp', emptyDir: {} }),
      mounting('cache', { name: 'scratch', ephemeral: { volumeClaimTemplate: { spec: {} } } }),
      mounting('old', { name: 'share', nfs: { server: 'nas-3', path: '/' } }),
      mounting('waiting', byClaim('new')),
    ];
    expect(readNfsMounts(read(pods), claims, volumes)).toEqual(
      read([
        { server: 'nas-1', pod: 'shop/web' },
        { server: 'nas-2', pod: 'shop/cache' },
        { server: 'nas-3', pod: 'shop/old' },
      ]),
    );
  });

  test('NR-37 a server that is down keeps the node from being drained, and names the pod that would hang', () => {
    expect(gate([mounting('web', byClaim('photos'))], { 'nas-1': read(false) })).toMatchObject({
      kind: 'fail',
      reason: 'NfsDown',
      message: 'NFS server nas-1, which pod shop/web mounts, does not answer',
    });
  });

  test('servers that answer, and servers that nothing here mounts, let a node go', () => {
    expect(gate([mounting('web', byClaim('photos'))], { 'nas-1': read(true), 'nas-2': read(false) }).kind).toBe('pass');
    expect(gate([], { 'nas-1': read(false) }).kind).toBe('pass');
    const over = podObject({ name: 'job', phase: 'Succeeded', volumes: [byClaim('photos')] });
    expect(gate([over], {}).kind).toBe('pass');
  });

  test('a server that came late, that nobody asked, or that the spec does not name is unmeasured', () => {
    const late = unmeasured('NFS server nas-1', 'this worker', 'timeout', 'no answer within 5 s');
    const pods = [mounting('web', byClaim('photos'))];
    expect(gate(pods, { 'nas-1': late })).toBe(late);
    expect(gate(pods, {})).toMatchObject({ kind: 'unmeasured', why: 'missing' });
    expect(gate(pods, { 'nas-1': read(true) }, ['nas-2'])).toMatchObject({ kind: 'unmeasured', from: 'the spec' });
  });

  test('a claim or a volume that is not there is missing, and not without a server', () => {
    const stray = read([claim('stray', 'pv-gone')]);
    expect(readNfsMounts(read([mounting('web', byClaim('gone'))]), claims, volumes)).toMatchObject({ why: 'missing' });
    expect(readNfsMounts(read([mounting('web', byClaim('stray'))]), stray, volumes)).toMatchObject({ why: 'missing' });
    const denied = unmeasured('volumes', 'API server', 'denied', 'forbidden');
    expect(readNfsMounts(read([]), claims, denied)).toBe(denied);
  });
});
