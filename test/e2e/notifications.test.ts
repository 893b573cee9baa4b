import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Notification } from '../../src/domain/core/notification.ts';
import { releaseId } from '../../src/workflows/release/messages.ts';
import { waitFor } from '../lab/wait.ts';
import type { AppliedRelease } from './applied-release.ts';
import { startFleet, type Fleet } from './fleet.ts';
import { allCurrent, ended } from './rig.ts';

const lab = inject('lab');
let folder: string;
let fleet: Fleet;
let receiver: Server;
const received: Notification[] = [];
/** What the receiver answers; null lets the request hang. */
let answer: number | null = 200;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-notify-'));
  receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      received.push(JSON.parse(body) as Notification);
      if (answer !== null) response.writeHead(answer).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const hook = join(folder, 'hook');
  writeFileSync(hook, `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/services/s3cret\n`);
  fleet = await startFleet(lab, 'notify', { config: { notify: [{ name: 'ops', webhook: { file: hook } }] } });
});

afterAll(async () => {
  await fleet.close();
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
  rmSync(folder, { recursive: true });
});

function about(release: AppliedRelease): Notification[] {
  return received.filter(({ subject }) => subject.startsWith(releaseId(release.name)));
}

describe('a webhook that the worker is configured with', () => {
  test('hears once that a plan waits for a person, and once that a target was rolled back', async () => {
    const one = await fleet.image('told', '1.0.0');
    await fleet.deployHubs(one.reference, 'told');
    const release = await fleet.apply('told', fleet.spec('told', ['told'], { approval: 'beforeFirst', soak: '5m' }));
    await release.until('current on 1.0.0', allCurrent('1.0.0'));
    expect(about(release)).toEqual([]);
    await fleet.image('told', '1.1.0');
    const { planHash } = await release.until('an approval', (s) => s.phase === 'AwaitingApproval');
    await waitFor('the wait to be told', () => about(release).length === 1);
    expect(about(release)[0]).toMatchObject({ what: 'WaitsForPerson', severity: 'warning' });
    expect(about(release)[0]?.text).toContain(planHash);
    await release.act('runNow');

    await release.act('approve', { plan: planHash });
    await release.until('the canary to soak', (s) => s.targets[0]?.step === 'Soaking');
    fleet.health.set('told', 500);
    await waitFor('the way back', async () => (await fleet.imageOf('told')) === one.reference);
    fleet.health.set('told', 200);
    await release.until('rolled back', ended('told', 'RolledBack'));
    expect(about(release).map(({ what }) => what)).toEqual(['WaitsForPerson', 'RolledBack']);
    expect(about(release)[1]?.text).toContain('500');
    expect(new Set(about(release).map(({ dedupeKey }) => dedupeKey)).size).toBe(2);
    await release.end();
  });

  test('that hangs holds no rollback up', async () => {
    answer = null;
    const one = await fleet.image('deaf', '1.0.0');
    await fleet.deployHubs(one.reference, 'deaf-a', 'deaf-b');
    const release = await fleet.apply('deaf', fleet.spec('deaf', ['deaf-a', 'deaf-b'], { soak: '5m' }));
    await release.until('current on 1.0.0', allCurrent('1.0.0'));
    await fleet.image('deaf', '1.1.0');
    await release.until('the canary to soak', (s) => s.targets[0]?.step === 'Soaking');
    fleet.health.set('deaf-a', 500);
    await waitFor('the way back', async () => (await fleet.imageOf('deaf-a')) === one.reference);
    fleet.health.set('deaf-a', 200);
    const tried = received.length;
    const back = await release.until('rolled back', (s) => s.targets[0]?.phase === 'RolledBack');
    // It is told only then, and one try of a receiver takes ten seconds: the rollout has not waited for it.
    expect(back.rollout).not.toBeNull();
    await waitFor('somebody to be told', () => received.length > tried);
    answer = 200;
    await release.until('the rollout to end', ended('deaf-a', 'RolledBack'));
    await release.end();
  });
});
