import { expect, test } from 'vitest';
import { judgePreflight } from '../../../src/domain/release/judge-preflight.ts';
import { address, daemonSet, deployment, NEW, OLD, statefulSet } from './watched.ts';

test('a workload with the planned image, replicas and a strategy that rolls passes', () => {
  expect(judgePreflight(address, NEW, deployment())).toEqual({ kind: 'pass' });
  expect(judgePreflight(address, NEW, statefulSet())).toEqual({ kind: 'pass' });
  expect(judgePreflight(address, NEW, daemonSet())).toEqual({ kind: 'pass' });
  expect(judgePreflight({ ...address, container: 'init' }, NEW, deployment())).toEqual({ kind: 'pass' });
});

test('H-A10 a paused Deployment stops before any patch, with the reason paused', () => {
  const of = deployment(2);
  expect(judgePreflight(address, NEW, { ...of, spec: { ...of.spec, paused: true } })).toEqual({
    kind: 'fail',
    reason: 'WorkloadPaused',
    message:
      'Deployment shop/web is paused: a new image would not roll; resume it: kubectl -n shop rollout resume deployment/web',
  });
});

test('a container that does not exist is an error, with the names of those that do', () => {
  expect(judgePreflight({ ...address, container: 'web' }, NEW, deployment())).toEqual({
    kind: 'fail',
    reason: 'NoSuchContainer',
    message: 'Deployment shop/web has no container web; its containers: app, proxy, init',
  });
});

test('another image than planned is not written over', () => {
  expect(judgePreflight(address, OLD, deployment())).toEqual({
    kind: 'fail',
    reason: 'ImageChanged',
    message: `Deployment shop/web has ${NEW} now, not ${OLD} as planned`,
  });
});

test('zero replicas prove nothing', () => {
  expect(judgePreflight(address, NEW, deployment(0))).toEqual({
    kind: 'fail',
    reason: 'ZeroReplicas',
    message: 'Deployment shop/web has zero replicas: there is nothing to verify',
  });
});

test('a DaemonSet that no node takes proves nothing either', () => {
  expect(judgePreflight(address, NEW, daemonSet({ desiredNumberScheduled: 0 }))).toMatchObject({
    reason: 'ZeroReplicas',
  });
  const { status: _, ...unseen } = daemonSet();
  expect(judgePreflight(address, NEW, unseen).kind).toBe('pass');
});

test('a strategy that replaces no pod, or not all of them, is refused', () => {
  const set = statefulSet();
  const with_ = (updateStrategy: object) => ({ ...set, spec: { ...set.spec, updateStrategy } });
  expect(judgePreflight(address, NEW, with_({ type: 'OnDelete' }))).toMatchObject({
    reason: 'OnDeleteStrategy',
    message: 'Deployment shop/web has the update strategy OnDelete: a new image would not roll',
  });
  expect(judgePreflight(address, NEW, with_({ rollingUpdate: { partition: 1 } }))).toMatchObject({
    reason: 'Partitioned',
    message: 'Deployment shop/web has the partition 1: a new image would not reach all its pods',
  });
  expect(judgePreflight(address, NEW, with_({ type: 'RollingUpdate', rollingUpdate: { partition: 0 } })).kind).toBe(
    'pass',
  );
  expect(judgePreflight(address, NEW, with_({ rollingUpdate: {} })).kind).toBe('pass');
  expect(judgePreflight(address, NEW, with_({})).kind).toBe('pass');
  const daemons = daemonSet();
  const onDelete = { ...daemons, spec: { ...daemons.spec, updateStrategy: { type: 'OnDelete' } } };
  expect(judgePreflight(address, NEW, onDelete)).toMatchObject({ reason: 'OnDeleteStrategy' });
});
