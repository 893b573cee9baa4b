import { describe, expect, test } from 'vitest';
import { read, unmeasured } from '../../../../src/domain/core/verdict.ts';
import type { GateStage } from '../../../../src/domain/node-reboot/gate.ts';
import { longhornGate, readLonghorn } from '../../../../src/domain/node-reboot/gates/longhorn.ts';
import { vectorBody } from '../prometheus-body.ts';

const names = Array.from({ length: 25 }, (_, index) => `pvc-${index + 1}`);
const nodes = ['node-1', 'node-2', 'node-3'];

interface Changes {
  /** By volume: its state and robustness. */
  readonly volumes?: Readonly<Record<string, readonly [string, string]>>;
  /** Volumes of which only these nodes have a healthy copy. */
  readonly copies?: Readonly<Record<string, readonly string[]>>;
  readonly count?: number;
  readonly series?: object;
}

function volume(name: string, [state, robustness]: readonly [string, string]) {
  return {
    metadata: { name, namespace: 'longhorn-system' },
    spec: { numberOfReplicas: 3 },
    status: { state, robustness },
  };
}

function replica(volumeName: string, nodeID: string, healthy: boolean) {
  return {
    metadata: { name: `${volumeName}-${nodeID}` },
    spec: { volumeName, nodeID, failedAt: healthy ? '' : '2026-06-01T00:00:00Z', healthyAt: '2026-05-01T00:00:00Z' },
    status: { currentState: healthy ? 'running' : 'error' },
  };
}

function gate(stage: GateStage, { volumes = {}, copies = {}, count = 25, series }: Changes = {}) {
  const there = names.slice(0, count);
  const facts = readLonghorn(
    read(there.map((name) => volume(name, volumes[name] ?? ['attached', 'healthy']))),
    read(there.flatMap((name) => nodes.map((node) => replica(name, node, (copies[name] ?? nodes).includes(node))))),
    series === undefined ? null : read(series),
  );
  const spec = { namespace: 'longhorn-system', volumes: 25 };
  return longhornGate(facts, { spec, turn: 'node-1' }, stage).verdict;
}

describe('Longhorn volumes', () => {
  test('25 healthy volumes let a node go at every stage', () => {
    for (const stage of ['before', 'last', 'after'] as const) expect(gate(stage).kind).toBe('pass');
  });

  test('NR-25 24 of 25 volumes stop it', () => {
    expect(gate('before', { count: 24 })).toMatchObject({
      kind: 'fail',
      reason: 'VolumesMissing',
      message: 'there are 24 of 25 volumes',
    });
    expect(gate('after', { count: 24 })).toMatchObject({ reason: 'VolumesMissing' });
  });

  test('NR-26 a detached volume of unknown robustness is no failure, an attached one is unmeasured', () => {
    expect(gate('before', { volumes: { 'pvc-3': ['detached', 'unknown'] } }).kind).toBe('pass');
    expect(gate('before', { volumes: { 'pvc-3': ['attached', 'unknown'] } })).toMatchObject({ why: 'not-ready' });
    expect(gate('before', { volumes: { 'pvc-3': ['attaching', 'unknown'] } })).toMatchObject({ why: 'not-ready' });
    expect(gate('last', { volumes: { 'pvc-3': ['attached', 'unknown'] } })).toMatchObject({ why: 'not-ready' });
  });

  test('NR-27 a volume with one healthy copy of three holds the node back', () => {
    const one = { volumes: { 'pvc-7': ['attached', 'degraded'] }, copies: { 'pvc-7': ['node-2'] } } as const;
    expect(gate('before', one)).toMatchObject({ kind: 'fail', reason: 'VolumeDegraded' });
    expect(gate('after', one)).toMatchObject({ kind: 'fail', reason: 'VolumeDegraded' });
  });

  test('a volume that could never have two healthy copies elsewhere holds the node back before it is drained', () => {
    expect(gate('before', { copies: { 'pvc-7': ['node-1', 'node-2'] } })).toMatchObject({
      reason: 'TooFewCopies',
      message: 'of two healthy copies on other nodes than node-1 volume pvc-7 has 1',
    });
  });

  test('NR-28 series that do not match the volumes are unmeasured', () => {
    const states = ['unknown', 'healthy', 'degraded', 'faulted'];
    const all = names.flatMap((name) => states.map((state) => ({ volume: name, state })));
    expect(gate('before', { series: vectorBody(all) }).kind).toBe('pass');
    expect(gate('before', { series: vectorBody(all.slice(1)) })).toMatchObject({ why: 'truncated' });
    expect(gate('before', { series: vectorBody([...all, { volume: 'x', state: 'healthy' }]) }).kind).toBe('unmeasured');
    expect(gate('before', { series: vectorBody([]) })).toMatchObject({ why: 'empty' });
    // Older versions have one series for each volume.
    expect(gate('before', { series: vectorBody(names.map((name) => ({ volume: name }))) }).kind).toBe('pass');
  });

  test('NR-63 a volume that turns faulted fails by that name, whatever else is wrong', () => {
    const faulted = { volumes: { 'pvc-1': ['attached', 'degraded'], 'pvc-9': ['detached', 'faulted'] } } as const;
    for (const stage of ['before', 'last', 'after'] as const) {
      expect(gate(stage, faulted)).toMatchObject({
        kind: 'fail',
        reason: 'VolumeFaulted',
        message: 'volume pvc-9 is faulted: no copy of it is usable',
      });
    }
  });

  test('NR-93 after the drain all volumes may be degraded, as long as each has two healthy copies on other nodes', () => {
    const degraded = Object.fromEntries(names.map((name) => [name, ['attached', 'degraded'] as const]));
    const elsewhere = Object.fromEntries(names.map((name) => [name, ['node-2', 'node-3']]));
    expect(gate('last', { volumes: degraded, copies: elsewhere }).kind).toBe('pass');
    expect(gate('last', { volumes: degraded, copies: { ...elsewhere, 'pvc-4': ['node-1', 'node-2'] } })).toMatchObject({
      kind: 'fail',
      reason: 'TooFewCopies',
      message: 'of two healthy copies on other nodes than node-1 volume pvc-4 has 1',
    });
  });

  test('after the reboot it does not matter where copies are', () => {
    expect(gate('after', { copies: { 'pvc-4': ['node-1', 'node-2'] } }).kind).toBe('pass');
  });

  test('copies that are being rebuilt, are on their way out, or are two on one node do not count', () => {
    const good = replica('pvc-1', 'node-2', true);
    const failed = { ...replica('pvc-1', 'node-5', false), status: { currentState: 'stopped' } };
    const copies = [
      good,
      good,
      failed,
      { ...replica('pvc-1', 'node-3', true), metadata: { deletionTimestamp: '2026-06-01T00:00:00Z' } },
      {
        ...replica('pvc-1', 'node-4', true),
        spec: { volumeName: 'pvc-1', nodeID: 'node-4', failedAt: '', healthyAt: '' },
      },
    ];
    const facts = readLonghorn(read([volume('pvc-1', ['attached', 'degraded'])]), read(copies), null);
    const spec = { namespace: 'longhorn-system', volumes: 1 };
    expect(longhornGate(facts, { spec, turn: 'node-1' }, 'last').verdict).toMatchObject({
      reason: 'TooFewCopies',
    });
  });

  test('a list that is empty, denied, or of a kind that is not served stays what it is', () => {
    expect(gate('before', { count: 0 })).toMatchObject({ kind: 'unmeasured', why: 'empty' });
    const expected = { spec: { namespace: 'longhorn-system', volumes: 25 }, turn: 'node-1' };
    const notServed = unmeasured('volumes', 'API server', 'not-served', 'no kind Volume of longhorn.io/v1beta2');
    const denied = unmeasured('replicas', 'API server', 'denied', 'forbidden');
    expect(longhornGate(readLonghorn(notServed, read([]), null), expected, 'before').verdict).toBe(notServed);
    const whole = read(names.map((name) => volume(name, ['attached', 'healthy'])));
    expect(longhornGate(readLonghorn(whole, denied, null), expected, 'last').verdict).toBe(denied);
  });
});
