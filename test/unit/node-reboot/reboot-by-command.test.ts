import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createKubernetes } from '../../../src/activities/kubernetes/create.ts';
import type { KubernetesClient } from '../../../src/activities/kubernetes/port.ts';
import { holdLock } from '../../../src/activities/node-reboot/lock.ts';
import { rebootByCommand } from '../../../src/activities/node-reboot/reboot-by-command.ts';
import { cordonMark, lockName } from '../../../src/domain/node-reboot/by-hand.ts';
import { lockData } from '../../../src/domain/node-reboot/lock.ts';
import { formatMark } from '../../../src/domain/node-reboot/node.ts';
import { rebootCommandSchema } from '../../../src/domain/node-reboot/reboot-command.ts';
import { newVisit } from '../../../src/domain/node-reboot/visit.ts';
import { startApiServer, type ApiServerDouble } from '../../doubles/api-server.ts';
import { before, NOW } from '../../domain/node-reboot/world.ts';

let server: ApiServerDouble;
let port: KubernetesClient;
let folder: string;
const { signal } = new AbortController();

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-reboot-'));
  server = await startApiServer({});
  port = await createKubernetes({ name: 'double', kubeconfig: server.kubeconfig() });
});

afterEach(async () => {
  await port.close();
  await server.stop();
  rmSync(folder, { recursive: true });
});

const bootId = '12b44387-8bee-490e-b500-04ed8e039e2c';
const visit = { ...newVisit('n1', 'libc6', null, NOW), phase: 'Rebooting' as const, before: { ...before, bootId } };
const record = { campaign: 'control-plane', run: 'run-1', visit, reason: '' };

/** A node as it is when it is to be told. */
async function node(overrides: { readonly boot?: string; readonly address?: string } = {}): Promise<void> {
  const { boot = bootId, address = '10.0.0.7' } = overrides;
  const annotations = { [cordonMark]: formatMark(record) };
  const status = {
    nodeInfo: { bootID: boot, kernelVersion: '6.14' },
    capacity: { memory: '16Gi' },
    addresses: [{ type: 'InternalIP', address }],
  };
  const object = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', annotations } };
  const made = await port.create({ ...object, spec: { unschedulable: true }, status }, { fieldManager: 'test' });
  expect(made).toMatchObject({ kind: 'written' });
}

/** Tells by a script that first writes down with what it was called. */
function tell(
  script = '',
  options: { readonly wasThere?: boolean; readonly name?: string; readonly late?: boolean } = {},
) {
  const { wasThere = false, name = 'bmc', late = false } = options;
  const run = [
    '/bin/sh',
    '-c',
    `echo "$@" >> ${join(folder, 'calls')}; ${script}`,
    'sh',
    '{node}',
    '{address}',
    '{bootId}',
  ];
  const bmc = { ...rebootCommandSchema.parse({ run }), timeout: 400 };
  const absent = rebootCommandSchema.parse({ run: ['/nonexistent/power-cycle'] });
  const now = () => (late ? NOW + 61_000 : NOW);
  return rebootByCommand(port, { name, commands: { bmc, absent } }, record, wasThere, NOW + 60_000, now, signal);
}

function calls(): string[] {
  const file = join(folder, 'calls');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

describe('a boot is told to end by a command', () => {
  test('once, about this node and this boot', async () => {
    await node();
    expect(await tell()).toMatchObject({ outcome: 'sent', message: expect.stringContaining(bootId) as string });
    expect(calls()).toEqual([`n1 10.0.0.7 ${bootId}`]);
  });

  test('NR-47 never again where the intent stood in the lock before: an earlier try may have run it', async () => {
    await node();
    expect(await tell('', { wasThere: true })).toMatchObject({ outcome: 'unknown' });
    expect(calls()).toEqual([]);
  });

  test('and where it fails nobody knows what it did: it tells its exit code and no secret', async () => {
    await node();
    const { outcome, message } = await tell('echo "cannot log in, password=hunter2"; exit 9');
    expect(outcome).toBe('unknown');
    expect(message).toContain('ended with exit code 9');
    expect(message).not.toContain('hunter2');
  });

  test('and where its time is over nobody knows either', async () => {
    await node();
    expect(await tell('sleep 5')).toMatchObject({
      outcome: 'unknown',
      message: expect.stringContaining('0.4 s') as string,
    });
    expect(calls()).toHaveLength(1);
  });

  test('NR-49 not where the node runs another boot already, nor where the gates were read too long ago', async () => {
    await node({ boot: '00000000-0000-4000-8000-000000000000' });
    expect(await tell()).toMatchObject({ outcome: 'rebooted' });
    await port.delete({ apiVersion: 'v1', kind: 'Node', name: 'n1' }, { propagationPolicy: 'Background' });
    await node();
    expect(await tell('', { late: true })).toMatchObject({ outcome: 'stale' });
    expect(calls()).toEqual([]);
  });

  test('not where it is not there, or cannot be filled in: then the node is given back', async () => {
    await node({ address: '-oProxyCommand=reboot' });
    for (const name of ['absent', 'talos', 'bmc'])
      expect(await tell('', { name })).toMatchObject({ outcome: 'refused' });
    expect(calls()).toEqual([]);
  });
});

describe('whether an earlier try may have run it', () => {
  const earlier = { ...record, visit: { ...visit, phase: 'LastCheck' as const } };
  const intended = { ...record, visit: { ...visit, step: visit.step + 1 } };

  beforeEach(async () => {
    const metadata = lockName;
    const lock = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: lockData(earlier) };
    expect(await port.create(lock, { fieldManager: 'test' })).toMatchObject({ kind: 'written' });
  });

  test('NR-47 of two workers that try at once one knows that it is the first', async () => {
    const held = await Promise.all([1, 2].map(() => holdLock(port, intended, signal)));
    expect(held.filter((one) => one.ok && !one.wasThere)).toHaveLength(1);
    expect(held.every(({ ok }) => ok)).toBe(true);
  });

  test('NR-47 a worker that does not hear whether its intent was written takes it for that of another', async () => {
    let lost = 0;
    server.fault = ({ method }) => (method === 'PATCH' && lost++ === 0 ? { kind: 'drop-reply' } : undefined);
    expect(await holdLock(port, intended, signal)).toEqual({ ok: true, wasThere: true });
    server.fault = undefined;
    expect(await holdLock(port, intended, signal)).toEqual({ ok: true, wasThere: true });
  });
});
