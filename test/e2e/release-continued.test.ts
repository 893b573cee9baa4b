import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { waitFor } from '../lab/wait.ts';
import { startFleet, type Fleet } from './fleet.ts';
import { startHastyTemporal, type HastyTemporal } from './hasty-temporal.ts';
import { allCurrent } from './rig.ts';

/* A Temporal that suggests to continue as new early, and people who are told by a webhook that does not answer. */

/** What a release writes until it waits for an approval comes to more. */
const SUGGESTED_AT = 20;

const folder = mkdtempSync(join(tmpdir(), 'holdfast-continued-'));
let temporal: HastyTemporal;
let receiver: Server;
let asked = 0;
/** False lets whoever tells wait. */
let answers = false;
let fleet: Fleet;

beforeAll(async () => {
  temporal = await startHastyTemporal(SUGGESTED_AT);
  receiver = createServer((_, response) => {
    asked += 1;
    if (answers) response.writeHead(200).end();
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const hook = join(folder, 'hook');
  writeFileSync(hook, `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`);
  const config = { notify: [{ name: 'ops', webhook: { file: hook } }] };
  fleet = await startFleet({ ...inject('lab'), temporalAddress: temporal.address }, 'continued', { config });
});

afterAll(async () => {
  await fleet.close();
  receiver.closeAllConnections();
  receiver.close();
  await temporal.close();
  rmSync(folder, { recursive: true });
});

test('a release whose ownership is released while somebody is still being told ends, and is not begun again', async () => {
  const one = await fleet.image('told', '1.0.0');
  await fleet.deployHubs(one.reference, 'told');
  const release = await fleet.apply('told', fleet.spec('told', ['told'], { approval: 'beforeFirst' }));
  await release.until('current on 1.0.0', allCurrent('1.0.0'));
  await fleet.image('told', '1.1.0');
  await release.until('an approval', (s) => s.phase === 'AwaitingApproval');
  await waitFor('somebody to be told', () => asked > 0);
  const history = await release.handle.fetchHistory();
  expect(history.events?.length ?? 0).toBeGreaterThan(SUGGESTED_AT);
  const { runId } = await release.handle.describe();
  await release.act('runNow');
  await release.act('releaseOwnership');
  answers = true;
  receiver.closeAllConnections();
  await release.handle.result();
  const last = await release.handle.describe();
  expect(last).toMatchObject({ runId, status: { name: 'COMPLETED' } });
});
