import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Notification } from '../../src/domain/core/notification.ts';
import { actionUpdate, releaseId } from '../../src/workflows/release/messages.ts';
import { waitFor } from '../lab/wait.ts';
import { allCurrent, startFleet, type Fleet } from './fleet.ts';

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

function about(name: string): Notification[] {
  return received.filter(({ subject }) => subject.startsWith(releaseId(fleet.named(name))));
}

describe('a webhook that the worker is configured with', () => {
  test('hears once that a plan waits for a person, and once that a target was rolled back', async () => {
    const one = await fleet.image('told', '1.0.0');
    await fleet.deploy('told', one.reference);
    const handle = await fleet.apply('told', fleet.spec('told', ['told'], { approval: 'beforeFirst', soak: '5m' }));
    await fleet.statusWhere(handle, 'current on 1.0.0', allCurrent('1.0.0'));
    expect(about('told')).toEqual([]);
    await fleet.image('told', '1.1.0');
    const waiting = await fleet.statusWhere(handle, 'an approval', (s) => s.phase === 'AwaitingApproval');
    await waitFor('the wait to be told', () => about('told').length === 1);
    expect(about('told')[0]).toMatchObject({ what: 'WaitsForPerson', severity: 'warning' });
    expect(about('told')[0]?.text).toContain(waiting.planHash);
    await handle.executeUpdate(actionUpdate('runNow'), { args: [{ by: 'ana', reason: '' }] });

    await handle.executeUpdate(actionUpdate('approve'), { args: [{ by: 'ana', reason: '', plan: waiting.planHash }] });
    await fleet.statusWhere(handle, 'the canary to soak', (s) => s.targets[0]?.step === 'Soaking');
    fleet.answers.set('told', 500);
    await waitFor('the way back', async () => (await fleet.imageOf('told')) === one.reference);
    fleet.answers.delete('told');
    await fleet.statusWhere(handle, 'rolled back', (s) => s.rollout === null && s.targets[0]?.phase === 'RolledBack');
    expect(about('told').map(({ what }) => what)).toEqual(['WaitsForPerson', 'RolledBack']);
    expect(about('told')[1]?.text).toContain('500');
    expect(new Set(about('told').map(({ dedupeKey }) => dedupeKey)).size).toBe(2);
    await fleet.endAndReplay('told');
  });

  test('that hangs holds no rollback up', async () => {
    answer = null;
    const one = await fleet.image('deaf', '1.0.0');
    for (const target of ['deaf-a', 'deaf-b']) await fleet.deploy(target, one.reference);
    const handle = await fleet.apply('deaf', fleet.spec('deaf', ['deaf-a', 'deaf-b'], { soak: '5m', waves: [1, 1] }));
    await fleet.statusWhere(handle, 'current on 1.0.0', allCurrent('1.0.0'));
    await fleet.image('deaf', '1.1.0');
    await fleet.statusWhere(handle, 'the canary to soak', (s) => s.targets[0]?.step === 'Soaking');
    fleet.answers.set('deaf-a', 500);
    const begun = Date.now();
    await waitFor('the way back', async () => (await fleet.imageOf('deaf-a')) === one.reference);
    fleet.answers.delete('deaf-a');
    await fleet.statusWhere(handle, 'rolled back', (s) => s.targets[0]?.phase === 'RolledBack');
    // One try of a receiver takes ten seconds, all of them a minute.
    expect(Date.now() - begun).toBeLessThan(10_000);
    await waitFor('somebody to be told', () => about('deaf').length > 0);
    answer = 200;
    await fleet.statusWhere(handle, 'the rollout to end', (s) => s.rollout === null && s.lastRollouts.length === 1);
    await fleet.endAndReplay('deaf');
  });
});
