import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { ReleaseSpecInput } from '../../src/domain/release/spec.ts';
import { releaseId } from '../../src/workflows/release/messages.ts';
import { markAudit, readAudit } from '../lab/access.ts';
import { tagImage } from '../lab/images.ts';
import { waitFor } from '../lab/wait.ts';
import { startFleet, type Fleet } from './fleet.ts';
import { allCurrent, ended } from './rig.ts';

const lab = inject('lab');
let rig: Fleet;

beforeAll(async () => {
  rig = await startFleet(lab, 'release');
});

afterAll(() => rig.close());

function spec(repository: string, targets: readonly string[], more: Partial<ReleaseSpecInput> = {}): ReleaseSpecInput {
  return rig.spec(repository, targets, { track: { line: '^\\d' }, soak: '2s', soakProbeInterval: '300ms', ...more });
}

describe('a release on a real API server, registry and Temporal', () => {
  test('rolls a new image out canary first, each target in one patch that carries its way back', async () => {
    const one = await rig.image('good', '1.0.0');
    await rig.deployHubs(one.reference, 'good-a');
    await rig.deployHubs(one.reference, 'good-b');
    const since = await markAudit(lab);
    const release = await rig.apply('good', spec('good', ['good-a', 'good-b']));
    await release.until('both targets current on 1.0.0', allCurrent('1.0.0'));
    const two = await rig.image('good', '1.1.0');
    await release.until('both targets current on 1.1.0', allCurrent('1.1.0'));
    for (const name of ['good-a', 'good-b']) {
      expect(await rig.imageOf(name)).toBe(two.reference);
      expect(await rig.mark(name, 'previousImage')).toBe(one.reference);
      expect(await rig.mark(name, 'managedBy')).toBe(releaseId(release.name));
      expect(await rig.mark(name, 'passed')).toBe(two.reference);
    }
    const writes = (await readAudit(lab, since)).filter(
      (e) => e.verb === 'patch' && e.objectRef?.resource === 'deployments' && e.userAgent?.includes('holdfast'),
    );
    expect(writes.map((e) => e.objectRef?.name)).toEqual(['good-a', 'good-a', 'good-b', 'good-b']);
    await release.end();
  });

  test('rolls the canary back when its health fails in the soak, touches no other target, blocks the digest, and keeps the block through a terminate', async () => {
    const one = await rig.image('bad', '1.0.0');
    await rig.deployHubs(one.reference, 'bad-a');
    await rig.deployHubs(one.reference, 'bad-b');
    const release = await rig.apply('bad', spec('bad', ['bad-a', 'bad-b'], { soak: '60s' }));
    await release.until('both targets current', allCurrent('1.0.0'));
    const bad = await rig.image('bad', '1.1.0');
    await release.until('the canary soaking', (s) => s.targets[0]?.step === 'Soaking');
    rig.health.set('bad-a', 500);
    await waitFor('the way back is written', async () => (await rig.imageOf('bad-a')) === one.reference);
    rig.health.set('bad-a', 200);
    const status = await release.until('the canary rolled back', ended('bad-a', 'RolledBack'));
    expect(status.targets[0]?.message).toMatch(/500/);
    expect(status.blocked.map((b) => b.image)).toContain(bad.digest);
    expect(status.rollbacks).toBe(1);
    expect(await rig.imageOf('bad-a')).toBe(one.reference);
    expect(await rig.imageOf('bad-b')).toBe(one.reference);
    expect(await rig.mark('bad-b', 'applied')).toBeUndefined();
    await release.end();

    const again = await rig.apply('bad', spec('bad', ['bad-a', 'bad-b']));
    const rebuilt = await again.until('the new run to know the block', (s) =>
      s.blocked.some((b) => b.image === bad.digest),
    );
    expect(rebuilt.plan.items).toEqual([]);
    expect(await rig.imageOf('bad-a')).toBe(one.reference);
    await again.end();
  });

  test('reverts an image that somebody else put there, through gate and soak', async () => {
    const one = await rig.image('drift', '1.0.0');
    const other = await rig.image('drift', '0.9.0');
    await rig.deployHubs(one.reference, 'drift-a');
    const release = await rig.apply('drift', spec('drift', ['drift-a']));
    await release.until('current', allCurrent('1.0.0'));
    const next = await rig.image('drift', '1.0.1');
    await release.until('current on 1.0.1', allCurrent('1.0.1'));
    await rig.swapImage('drift-a', other.reference, 'somebody');
    await waitFor('the applied image is back', async () => (await rig.imageOf('drift-a')) === next.reference);
    await release.until('current again', allCurrent('1.0.1'));
    await release.end();
  });

  test('waits for a person before the first target when asked to, and a stale plan hash is refused', async () => {
    const one = await rig.image('ask', '1.0.0');
    await rig.deployHubs(one.reference, 'ask-a');
    const release = await rig.apply('ask', spec('ask', ['ask-a'], { approval: 'beforeFirst', soak: '0s' }));
    await release.until('current', allCurrent('1.0.0'));
    const two = await rig.image('ask', '1.0.1');
    const waiting = await release.until(
      'waiting for approval',
      (s) => s.waiting?.who === 'person' && s.plan.items.length === 1,
    );
    expect(await rig.imageOf('ask-a')).toBe(one.reference);
    await expect(release.act('approve', { plan: `sha256:${'0'.repeat(64)}` })).rejects.toThrow();
    expect(await rig.imageOf('ask-a')).toBe(one.reference);
    await release.signal('approve', { reason: 'looked at it', plan: waiting.planHash });
    await release.until('current on 1.0.1', allCurrent('1.0.1'));
    expect(await rig.imageOf('ask-a')).toBe(two.reference);
    await release.end();
  });

  test('writes nothing in Shadow and shows the plan; Enforce then runs it', async () => {
    const one = await rig.image('shadow', '1.0.0');
    await rig.deployHubs(one.reference, 'shadow-a');
    await rig.image('shadow', '1.1.0');
    const since = await markAudit(lab);
    const release = await rig.apply('shadow', spec('shadow', ['shadow-a'], { mode: 'Shadow', soak: '0s' }));
    const status = await release.until('a plan', (s) => s.plan.items.length === 1);
    expect(status.plan.items[0]).toMatchObject({ target: 'shadow-a', action: 'roll', toLabel: '1.1.0' });
    const writes = (await readAudit(lab, since)).filter(
      (e) => e.userAgent?.includes('holdfast') && !['get', 'list', 'watch'].includes(e.verb),
    );
    expect(writes).toEqual([]);
    await release.act('setMode', { mode: 'Enforce' });
    await release.until('current on 1.1.0', allCurrent('1.1.0'));
    await release.end();
  });

  test('phases are computed at scrape and rollback counters start at 0', async () => {
    const one = await rig.image('metrics', '1.0.0');
    await rig.deployHubs(one.reference, 'metrics-a');
    await tagImage(lab.registry, `${rig.namespace}/metrics`, one.digest, 'edge');
    const release = await rig.apply('metrics', spec('metrics', ['metrics-a']));
    await release.until('current', allCurrent('1.0.0'));
    const text = await waitFor('the release is in /metrics', async () => {
      const body = await (await fetch(`http://${rig.worker().health}/metrics`)).text();
      return body.includes(`release="${release.name}"`) ? body : null;
    });
    const lines = text.split('\n');
    expect(lines.filter((l) => l.includes('metrics-a'))).toContain(
      `release_target_phase{release="${release.name}",target="metrics-a",cluster="default",phase="Current"} 1`,
    );
    expect(lines.filter((l) => l.startsWith('release_rollbacks'))).toContain(
      `release_rollbacks_total{release="${release.name}",reason="gate"} 0`,
    );
    expect(lines.some((l) => l.startsWith('temporal_'))).toBe(true);
    await release.end();
  });
});
