import { WorkflowNotFoundError } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { readWorkerConfig } from '../../../src/worker/config.ts';
import { holderRun, requireNodeReboot } from '../../../src/worker/node-reboot-activities.ts';
import { possibleCapabilities } from '../../../src/worker/run-worker.ts';

const nodeReboot = { hostImage: 'registry.example.com/busybox:1.37', commands: {}, prometheus: {}, etcd: {} };

describe('a worker that is to reboot nodes', () => {
  test('does so without being asked only where its configuration says how', () => {
    expect(possibleCapabilities({})).toEqual(['release', 'keycloak-flow']);
    expect(possibleCapabilities({ nodeReboot })).toEqual(['release', 'keycloak-flow', 'node-reboot']);
  });

  test('says what is missing, and what for', async () => {
    const config = await readWorkerConfig(undefined);
    expect(() => requireNodeReboot(config)).toThrow(/nodeReboot: \{ hostImage: IMAGE \}.*nsenter.*asks? a host/);
    expect(requireNodeReboot({ ...config, nodeReboot })).toEqual(nodeReboot);
  });
});

describe('the run that a lock names', () => {
  const run = '0f3c1b52-6c1e-4d5f-9a55-1d6a2b7f0001';
  type Client = Parameters<typeof holderRun>[0];
  interface Run {
    readonly status: string;
    readonly firstRunId: string;
  }

  /** A Temporal that knows, or not, one run of nodereboot/a, and the newest of its runs. */
  function temporal(named: string | null, newest?: Run): Client {
    const describe = (id: string, runId?: string) => {
      const found = runId === undefined ? newest : named === null ? undefined : { status: named, firstRunId: run };
      if (id !== 'nodereboot/a' || found === undefined) throw new WorkflowNotFoundError('not found', id, runId);
      return { status: { name: found.status }, raw: { workflowExecutionInfo: { firstRunId: found.firstRunId } } };
    };
    const getHandle = (id: string, runId?: string) => ({
      describe: async () => Promise.resolve().then(() => describe(id, runId)),
    });
    return { workflow: { getHandle } } as unknown as Client;
  }

  test.each([
    ['RUNNING', 'running'],
    ['COMPLETED', 'ended'],
    ['TERMINATED', 'ended'],
    [null, 'unknown'],
  ] as const)('that Temporal shows as %s is %s', async (status, is) => {
    expect(await holderRun(temporal(status), 'a', run)).toBe(is);
  });

  test('runs on through continue-as-new, as long as the newest run of its own chain does', async () => {
    const continued = (status: string, firstRunId: string) =>
      holderRun(temporal('CONTINUED_AS_NEW', { status, firstRunId }), 'a', run);
    expect(await continued('RUNNING', run)).toBe('running');
    expect(await continued('TERMINATED', run)).toBe('ended');
    expect(await continued('RUNNING', 'another')).toBe('ended');
  });

  test('that Temporal has forgotten is that of its chain, as long as any run of it is known', async () => {
    const forgotten = (status: string, firstRunId: string) =>
      holderRun(temporal(null, { status, firstRunId }), 'a', run);
    expect(await forgotten('RUNNING', run)).toBe('running');
    expect(await forgotten('TERMINATED', run)).toBe('ended');
    // It may be the run of another server.
    expect(await forgotten('RUNNING', 'another')).toBe('unknown');
  });

  test('is asked for only where it looks like one: Temporal refuses others, which is no answer', async () => {
    expect(await holderRun(temporal('RUNNING'), 'a', 'run-1')).toBe('unknown');
  });
});
