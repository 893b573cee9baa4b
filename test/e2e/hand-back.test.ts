import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { historyQuery, releaseId } from '../../src/workflows/release/messages.ts';
import { startFleet, type Fleet } from './fleet.ts';
import { allCurrent } from './rig.ts';
import { severedApi, type SeveredApi } from './severed-api.ts';

const lab = inject('lab');
let folder: string;
let api: SeveredApi;
let fleet: Fleet;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-hand-back-'));
  api = await severedApi(lab.kubeconfig, join(folder, 'kubeconfig'));
  fleet = await startFleet(lab, 'hand', { kubeconfig: api.kubeconfig });
});

afterAll(async () => {
  await fleet.close();
  await api.close();
  rmSync(folder, { recursive: true });
});

/** A release that has written its marks to its one target. */
async function marked(name: string) {
  const one = await fleet.image(name, '1.0.0');
  await fleet.deployHubs(one.reference, name);
  const release = await fleet.apply(name, fleet.spec(name, [name]));
  await release.until('current on 1.0.0', allCurrent('1.0.0'));
  await fleet.image(name, '1.1.0');
  await release.until('current on 1.1.0', allCurrent('1.1.0'));
  expect(await fleet.mark(name, 'managedBy')).toBe(releaseId(release.name));
  return release;
}

test('in Shadow ownership is released without a write', async () => {
  const release = await marked('shadow');
  await release.act('setMode', { mode: 'Shadow' });
  await release.until('Shadow in force', (s) => s.effectiveMode === 'Shadow');
  expect((await release.act('releaseOwnership')).message).toContain('marks stay');
  await release.handle.result();
  expect(await fleet.mark('shadow', 'managedBy')).toBe(releaseId(release.name));
  await release.end();
});

test('with the API server down it ends all the same, refuses what is asked meanwhile, and says where marks stay', async () => {
  const release = await marked('cut');
  await api.cut();
  await release.act('releaseOwnership');
  await expect(release.act('pause')).rejects.toMatchObject({
    cause: { message: expect.stringContaining('hands its targets back') as string },
  });
  await release.handle.result();
  const { evidence } = await release.handle.query(historyQuery);
  await api.restore();
  expect(evidence.at(-1)).toMatchObject({
    outcome: 'not handed back',
    message: expect.stringMatching(/^marks stay on 1 targets: cut: /) as string,
  });
  expect(await fleet.mark('cut', 'managedBy')).toBe(releaseId(release.name));
  await release.end();
}, 200_000);
