import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { releaseId, rolloutId } from '../../src/workflows/release/messages.ts';
import { waitFor } from '../lab/wait.ts';
import { startFleet, type Fleet } from './fleet.ts';
import { allCurrent, ended } from './rig.ts';
import { severedApi, type SeveredApi } from './severed-api.ts';

const lab = inject('lab');
const OUTAGE_MS = 60_000;
let folder: string;
let api: SeveredApi;
let fleet: Fleet;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-outage-'));
  api = await severedApi(lab.kubeconfig, join(folder, 'kubeconfig'));
  fleet = await startFleet(lab, 'outage', { kubeconfig: api.kubeconfig });
});

afterAll(async () => {
  await fleet.close();
  await api.close();
  rmSync(folder, { recursive: true });
});

async function events(workflowId: string): Promise<number> {
  return (await fleet.worker().client.workflow.getHandle(workflowId).describe()).historyLength;
}

/** How long the histories are, once all that was said before has been told: two looks give the same. */
async function lengthsAtRest(workflowIds: readonly string[]): Promise<string> {
  let last = '';
  return waitFor(
    'the histories to come to rest',
    async () => {
      const before = last;
      last = (await Promise.all(workflowIds.map(events))).join(', ');
      return last === before && last;
    },
    60_000,
    3_000,
  );
}

/** A canary whose way back is to be written while the API server is down. */
async function rollingBackWithoutApi(name: string) {
  const one = await fleet.image(name, '1.0.0');
  await fleet.deployHubs(one.reference, name);
  const release = await fleet.apply(name, fleet.spec(name, [name], { soak: '5m' }));
  await release.until('current on 1.0.0', allCurrent('1.0.0'));
  const two = await fleet.image(name, '1.1.0');
  await release.until('the canary to soak', (s) => s.targets[0]?.step === 'Soaking');
  await release.act('pause', { reason: 'to look' });
  fleet.health.set(name, 500);
  await release.until('the way back to wait for resume', (s) => s.targets[0]?.step === 'RollingBack');
  await api.cut();
  await release.act('resume');
  const rollout = rolloutId(release.name);
  await waitFor('the write to be tried', async () => {
    const { raw } = await fleet.worker().client.workflow.getHandle(rollout).describe();
    return raw.pendingActivities?.some((a) => a.activityType?.name === 'writeImage') ?? false;
  });
  return { release, one, two, rollout };
}

describe('with the API server down', () => {
  test('a way back is tried for a minute without the history growing, and is written when the API server is back', async () => {
    const { release, one, rollout } = await rollingBackWithoutApi('outage');
    const both = [rollout, releaseId(release.name)];
    const before = await lengthsAtRest(both);
    await sleep(OUTAGE_MS + 10_000);
    expect(await lengthsAtRest(both)).toBe(before);
    fleet.health.set('outage', 200);
    await api.restore();
    await waitFor('the way back to be written', async () => (await fleet.imageOf('outage')) === one.reference);
    const status = await release.until('the canary to be rolled back', ended('outage', 'RolledBack'));
    expect(status.targets[0]?.message).toContain('500');
    await release.end();
  });

  test('a person who aborts with --now is heard although nobody knows whether the way back was written', async () => {
    const { release, two } = await rollingBackWithoutApi('heard');
    await release.act('abort', { reason: 'by hand', how: 'stop', now: true });
    const heard = await release.until('the rollout to end', (s) => s.targets[0]?.phase === 'Failed', 150_000);
    expect(heard.targets[0]?.message).toContain(`${two.reference} was left in place`);
    fleet.health.set('heard', 200);
    await api.restore();
    await release.end();
  }, 240_000);
});
