import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { ReleaseSpecInput } from '../../src/domain/release/spec.ts';
import { markAudit, readAudit } from '../lab/access.ts';
import { waitFor } from '../lab/wait.ts';
import { startFleet, type Fleet } from './fleet.ts';
import { allCurrent, ended } from './rig.ts';

const lab = inject('lab');
let rig: Fleet;

beforeAll(async () => {
  rig = await startFleet(lab, 'fleet');
});

afterAll(() => rig.close());

function spec(repository: string, targets: readonly string[], more: Partial<ReleaseSpecInput> = {}): ReleaseSpecInput {
  return rig.spec(repository, targets, { track: { line: '^\\d' }, soakProbeInterval: '300ms', ...more });
}

/** Everything that our worker wrote to a workload since then. */
async function writesTo(name: string, since: Awaited<ReturnType<typeof markAudit>>): Promise<string[]> {
  return (await readAudit(lab, since))
    .filter((e) => e.objectRef?.namespace === rig.namespace && e.objectRef.name === name)
    .filter((e) => e.userAgent?.includes('holdfast') === true && e.verb === 'patch')
    .map((e) => e.verb);
}

describe('what happens to a fleet', () => {
  test.concurrent(
    'after a failure in a wave its siblings finish their soak, and no later wave is started',
    async () => {
      const names = ['wave-1', 'wave-2', 'wave-3', 'wave-4', 'wave-5'];
      const one = await rig.image('wave', '1.0.0');
      await Promise.all(names.map((name) => rig.deployHubs(one.reference, name)));
      const release = await rig.apply('wave', spec('wave', names, { waves: [2], soak: '8s' }));
      await release.until('all current', allCurrent('1.0.0'));
      const since = await markAudit(lab);
      const two = await rig.image('wave', '1.1.0');
      await release.until(
        'both targets of the second wave soaking',
        ({ targets }) => targets[1]?.step === 'Soaking' && targets[2]?.step === 'Soaking',
      );
      rig.health.set('wave-2', 500);
      await waitFor('the way back is written', async () => (await rig.imageOf('wave-2')) === one.reference);
      rig.health.set('wave-2', 200);
      const { lastRollouts } = await release.until('the rollout to have ended', ended('wave-2', 'RolledBack'));
      const phases = Object.fromEntries(lastRollouts[0]?.targets.map((t) => [t.name, t.phase]) ?? []);
      expect(phases).toEqual({
        'wave-1': 'Current',
        'wave-2': 'RolledBack',
        'wave-3': 'Current',
        'wave-4': 'Pending',
        'wave-5': 'Pending',
      });
      const images = await Promise.all(names.map((name) => rig.imageOf(name)));
      expect(images).toEqual([two, one, two, one, one].map((image) => image.reference));
      expect(await rig.mark('wave-3', 'passed')).toBe(two.reference);
      for (const name of ['wave-4', 'wave-5']) expect(await writesTo(name, since)).toEqual([]);
      await release.end();
    },
  );

  test.concurrent('onFailure: undo brings each promoted target back to the digest that it had itself', async () => {
    const [older, old, bad] = [
      await rig.image('undo', '1.0.0'),
      await rig.image('undo', '1.0.5'),
      await rig.image('undo', '1.1.0'),
    ];
    await rig.deployHubs(older.reference, 'undo-a');
    await rig.deployHubs(old.reference, 'undo-b');
    await rig.deployHubs(older.reference, 'undo-c');
    await rig.deployHubs(old.reference, 'undo-d');
    const names = ['undo-a', 'undo-b', 'undo-c', 'undo-d'];
    const release = await rig.apply('undo', spec('undo', names, { onFailure: 'undo', soak: '3s' }));
    await release.until('the third target soaking', ({ targets }) => targets[2]?.step === 'Soaking');
    rig.health.set('undo-c', 500);
    await waitFor('the way back is written', async () => (await rig.imageOf('undo-c')) === older.reference);
    rig.health.set('undo-c', 200);
    const { lastRollouts, blocked } = await release.until('all of it undone', ended('undo-c', 'RolledBack'));
    const outcomes = Object.fromEntries(lastRollouts[0]?.targets.map((t) => [t.name, [t.phase, t.reason]]) ?? []);
    expect(outcomes).toEqual({
      'undo-a': ['RolledBack', 'Undone'],
      'undo-b': ['RolledBack', 'Undone'],
      'undo-c': ['RolledBack', 'Unhealthy'],
      'undo-d': ['Pending', 'StoppedByFailure'],
    });
    const images = await Promise.all(names.map((name) => rig.imageOf(name)));
    expect(images).toEqual([older, old, older, old].map((image) => image.reference));
    expect(blocked.map((b) => b.image)).toEqual([bad.digest]);
    await release.end();
  });

  test.concurrent('a pin moves the whole fleet back, canary first and through gate and soak', async () => {
    const one = await rig.image('pin', '1.0.0');
    const names = ['pin-a', 'pin-b', 'pin-c'];
    await rig.image('pin', '1.1.0');
    await Promise.all(names.map((name) => rig.deployHubs(one.reference, name)));
    const release = await rig.apply('pin', spec('pin', names));
    await release.until('all current on 1.1.0', allCurrent('1.1.0'));
    await release.act('pin', { image: '1.0.0', reason: '1.1.0 is slow' });
    const status = await release.until('all current on 1.0.0', allCurrent('1.0.0'));
    expect(status.pinned).toMatchObject({ image: '1.0.0', by: 'ana', reason: '1.1.0 is slow' });
    for (const name of names) {
      expect(await rig.imageOf(name)).toBe(one.reference);
      expect(await rig.mark(name, 'passed')).toBe(one.reference);
      // Once there, once back: neither without its soak.
      const said = (await rig.events(name)).map((event) => event.reason);
      expect(said).toEqual(['RollingOut', 'Soaking', 'Promoted', 'RollingOut', 'Soaking', 'Promoted']);
    }
    const [canary, second] = [await rig.events('pin-a'), await rig.events('pin-b')];
    expect((canary[5]?.eventTime ?? '') < (second[3]?.eventTime ?? '')).toBe(true);
    await release.end();
  });

  test.concurrent(
    'what a person blocked is not rolled by a new run after a terminate, and is once unblocked',
    async () => {
      const one = await rig.image('block', '1.0.0');
      await rig.deployHubs(one.reference, 'block-a');
      const release = await rig.apply('block', spec('block', ['block-a']));
      await release.until('current', allCurrent('1.0.0'));
      await release.act('block', { image: '1.1.0', reason: 'eats the cache' });
      await waitFor('the block is marked on the target', async () =>
        (await rig.mark('block-a', 'blocked'))?.includes('1.1.0'),
      );
      await release.end();

      const two = await rig.image('block', '1.1.0');
      const again = await rig.apply('block', spec('block', ['block-a']));
      const held = await again.until('the new run to hold it', (s) => s.targets[0]?.reason === 'Blocked');
      expect(held.targets[0]?.message).toMatch(/1\.1\.0/);
      expect(held.plan.items).toEqual([]);
      await again.act('runNow');
      expect(await rig.imageOf('block-a')).toBe(one.reference);
      await again.act('unblock', { image: '1.1.0' });
      await again.until('current on 1.1.0', allCurrent('1.1.0'));
      expect(await rig.imageOf('block-a')).toBe(two.reference);
      await again.end();
    },
  );

  test.concurrent(
    'a writer that puts its image back three times is named and left alone until a person says retry',
    async () => {
      const one = await rig.image('writer', '1.0.0');
      const other = await rig.image('writer', '0.9.0');
      await rig.deployHubs(one.reference, 'writer-a');
      const release = await rig.apply('writer', spec('writer', ['writer-a'], { soak: '0s' }));
      await release.until('current', allCurrent('1.0.0'));
      for (const time of [1, 2]) {
        await rig.swapImage('writer-a', other.reference, 'argocd-controller');
        await waitFor(
          `it is brought back, time ${time}`,
          async () => (await rig.imageOf('writer-a')) === one.reference,
        );
        await release.until('current again', allCurrent('1.0.0'));
      }
      await rig.swapImage('writer-a', other.reference, 'argocd-controller');
      const held = await release.until('Held', ended('writer-a', 'Held'));
      expect(held.targets[0]).toMatchObject({ reason: 'SecondWriter' });
      expect(held.targets[0]?.message).toMatch(/argocd-controller has put its own image back 3 times/);
      expect(held.plan.items).toEqual([]);
      expect(await rig.imageOf('writer-a')).toBe(other.reference);
      await release.act('retry');
      await release.until('current once more', allCurrent('1.0.0'));
      await release.end();
    },
  );

  test.concurrent(
    'under a minimum age the first candidate is frozen: a newer one queues behind it and does not reset it',
    async () => {
      const AGE_MS = 10_000;
      const one = await rig.image('age', '1.0.0');
      await rig.deployHubs(one.reference, 'age-a');
      const release = await rig.apply('age', spec('age', ['age-a'], { minimumAge: '10s', soak: '0s' }));
      await release.until('current', allCurrent('1.0.0'));
      const pushed = Date.now();
      await rig.image('age', '1.1.0');
      const held = await release.until('1.1.0 to age', (s) => s.targets[0]?.reason === 'MinimumAge');
      expect(held.targets[0]?.label).toBe('1.1.0');
      const queued = Date.now();
      await rig.image('age', '1.2.0');
      const { lastRollouts } = await release.until('current on 1.2.0', allCurrent('1.2.0'));
      const [first, second] = lastRollouts;
      expect(lastRollouts.map((r) => r.targets[0]?.to.includes(':1.1.0@'))).toEqual([true, false]);
      // Instants are shown in whole seconds.
      const startOf = (rollout: typeof first) => Date.parse(rollout?.startedAt ?? '') + 999;
      expect(startOf(first)).toBeGreaterThanOrEqual(pushed + AGE_MS);
      expect(startOf(first)).toBeGreaterThanOrEqual(queued);
      expect(startOf(second)).toBeGreaterThanOrEqual(queued + AGE_MS);
      await release.end();
    },
  );

  test.concurrent('an abort lets a rollback that is under way finish', async () => {
    const one = await rig.image('finish', '1.0.0');
    await rig.deployHubs(one.reference, 'finish-a');
    const release = await rig.apply('finish', spec('finish', ['finish-a'], { soak: '60s' }));
    await release.until('current', allCurrent('1.0.0'));
    await rig.image('finish', '1.1.0');
    await release.until('soaking', ({ targets }) => targets[0]?.step === 'Soaking');
    rig.health.set('finish-a', 500);
    await release.until('the way back under way', ({ targets }) => targets[0]?.step === 'Recovering');
    await release.act('abort', { how: 'stop', reason: 'enough for today' });
    rig.health.set('finish-a', 200);
    await release.until('rolled back all the same', ended('finish-a', 'RolledBack'));
    expect(await rig.imageOf('finish-a')).toBe(one.reference);
    await release.end();
  });

  test.concurrent('abort --now leaves a rollback that is under way, and says in which state', async () => {
    const one = await rig.image('now', '1.0.0');
    await rig.deployHubs(one.reference, 'now-a');
    const release = await rig.apply('now', spec('now', ['now-a'], { soak: '60s' }));
    await release.until('current', allCurrent('1.0.0'));
    await rig.image('now', '1.1.0');
    await release.until('soaking', ({ targets }) => targets[0]?.step === 'Soaking');
    rig.health.set('now-a', 500);
    await release.until('the way back under way', ({ targets }) => targets[0]?.step === 'Recovering');
    await release.act('abort', { how: 'stop', now: true, reason: 'I do it by hand' });
    const status = await release.until('left', ended('now-a', 'Failed'));
    expect(status.targets[0]?.message).toContain('ana aborted with --now: I do it by hand');
    expect(status.targets[0]?.message).toContain(`${one.reference} was written back but is not known to be healthy`);
    expect(status.targets[0]?.message).toContain(`kubectl -n ${rig.namespace} rollout status deployment/now-a`);
    await release.end();
  });
});
