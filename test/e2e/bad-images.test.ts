import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { ReleaseSpecInput } from '../../src/domain/release/spec.ts';
import { deleteManifest, type ImageSpec, type PushedImage } from '../lab/images.ts';
import { allCurrent, startRig, type Rig } from './rig.ts';
import { AGENTS, deploySpoke, readyPod, spokeSpec, spokeTarget, type SpokeDeployment } from './spokes.ts';
import { pushUnpackableImage } from './unpackable-image.ts';

const lab = inject('lab');
let rig: Rig;

interface BadImage {
  /** Of the image, such as `crash-start`. */
  readonly fault?: string;
  /** What the message says in words. */
  readonly says: RegExp;
  readonly reason: RegExp;
  /** Whether the image is proven bad. */
  readonly blocks: boolean;
  /** The gate had been passed before. */
  readonly soaked?: true;
  /** Its tag is gone too, so that the image before is wanted again, and is proven where it was written back. */
  readonly provenAgain?: true;
  readonly image?: Partial<ImageSpec>;
  readonly workload?: SpokeDeployment;
  readonly spec?: Partial<ReleaseSpecInput>;
  /** Makes and pushes the image in another way. */
  push?(rig: Rig, repository: string): Promise<PushedImage>;
  /** What happens once the canary waits for its approval. */
  beforeApproval?(bad: PushedImage, repository: string): Promise<void>;
}

const LONG_SOAK = { soak: '120s' };

const bad: Readonly<Record<string, BadImage>> = {
  'an image that crashes at start': {
    fault: 'crash-start',
    reason: /^CrashLoopBackOff$/,
    says: /container spoke of pod .* crashes again and again: it ended with exit code 1/,
    blocks: true,
  },
  'an image that crashes 5 s into its soak': {
    fault: 'crash-after=10s',
    reason: /^(Restarted|Terminated|CrashLoopBackOff)$/,
    says: /container spoke of pod .* has (ended|restarted) during the soak: it ended with exit code 1/,
    blocks: true,
    soaked: true,
    spec: LONG_SOAK,
  },
  'an image that the registry does not have any more': {
    reason: /^ImageAbsent$/,
    says: /cannot get its image .*the registry does not have it/s,
    blocks: true,
    provenAgain: true,
    spec: { approval: 'beforeEach' },
    beforeApproval: ({ digest }, repository) => deleteManifest(lab.registry, repository, digest),
  },
  'an image that the registry has and no node can unpack': {
    reason: /^ImagePullBackOff$/,
    says: /cannot get its image .*although the registry has it/s,
    blocks: false,
    push: (r, repository) => pushUnpackableImage(r, repository, '1.1.0'),
  },
  'an image whose health answers 500': {
    fault: 'health-500',
    reason: /^Unhealthy$/,
    says: /GET \/api\/health of pod .* answered 500, not 200/,
    blocks: true,
    spec: { gateTimeout: '4s' },
  },
  'an image whose health answers 500 in the soak': {
    fault: 'health-500-after=8s',
    reason: /^Unhealthy$/,
    says: /2 times in a row: GET \/api\/health of pod .* answered 500, not 200/,
    blocks: true,
    soaked: true,
    spec: LONG_SOAK,
  },
  'an image without an agent that was there': {
    fault: 'lose-agent=writer',
    reason: /^AgentLost$/,
    says: /has lost writer, which ran there before/,
    blocks: true,
    spec: { gateTimeout: '4s' },
  },
  'an image that loses an agent in the soak': {
    fault: 'lose-agent-after=8s',
    reason: /^AgentLost$/,
    says: /has lost reviewer, which ran there before/,
    blocks: true,
    soaked: true,
    spec: LONG_SOAK,
  },
  'an image that restarts in the soak and is well again at once': {
    // The kubelet ends the container, which goes with exit code 0 and comes back healthy.
    fault: 'unready-after=8s',
    reason: /^(Restarted|Terminated)$/,
    says: /container spoke of pod .* has (ended|restarted) during the soak: it ended with exit code 0/,
    blocks: true,
    soaked: true,
    spec: LONG_SOAK,
    workload: {
      readinessProbe: { httpGet: { path: '/api/health', port: 8080 }, periodSeconds: 1 },
      livenessProbe: { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 1, failureThreshold: 1 },
    },
  },
  'an image that never becomes ready': {
    fault: 'never-ready',
    reason: /^RolloutTimeout$/,
    says: /did not become ready in time: .*is not ready/s,
    blocks: true,
    spec: { rolloutTimeout: '12s' },
  },
};

describe.skipIf(lab.node === null)('on a real node a bad image is rolled back with the reason in words', () => {
  beforeAll(async () => {
    rig = await startRig(lab, 'bad');
  });

  afterAll(() => rig.close());

  test.concurrent.each(Object.entries(bad))('%s', async (what, expected) => {
    const repository = what.replaceAll(/[^a-z0-9]+/g, '-').slice(0, 40);
    const [canary, other] = [`c${repository.slice(-30)}`, `o${repository.slice(-30)}`];
    const good = await rig.image(repository, '1.0.0', { agents: AGENTS });
    await Promise.all([canary, other].map((name) => deploySpoke(rig, name, good, expected.workload)));
    const targets = [canary, other].map((name) => spokeTarget(rig, name));
    const release = await rig.apply(repository, spokeSpec(rig, repository, targets, expected.spec));
    await release.until('both targets current', allCurrent('1.0.0'));

    const fault = expected.fault === undefined ? {} : { fault: expected.fault };
    const pushed =
      (await expected.push?.(rig, repository)) ?? (await rig.image(repository, '1.1.0', { agents: AGENTS, ...fault }));
    if (expected.beforeApproval !== undefined) {
      await release.until('the canary to wait for its approval', (s) => s.targets[0]?.reason === 'AwaitingApproval');
      await expected.beforeApproval(pushed, `${rig.namespace}/${repository}`);
      await release.act('approve', { target: canary });
    }
    const rollouts = expected.provenAgain ? 2 : 1;
    const { lastRollouts, ...status } = await release.until(
      'the rollout to have ended',
      (s) => s.rollout === null && s.lastRollouts.length === rollouts,
    );

    const rollout = lastRollouts.find((ended) => ended.outcome === 'RolledBack');
    expect(rollout).toMatchObject({ outcome: 'RolledBack' });
    expect(rollout?.targets).toMatchObject([
      {
        name: canary,
        phase: 'RolledBack',
        from: good.reference,
        reason: expect.stringMatching(expected.reason) as string,
      },
      { name: other, phase: 'Pending', reason: 'StoppedByFailure' },
    ]);
    const blocked = status.blocked.filter((entry) => !entry.cooldownOnly).map((entry) => entry.image);
    expect(blocked).toEqual(expected.blocks ? [pushed.digest] : []);
    expect(status.rollbacks).toBe(1);

    const events = await rig.events(canary);
    const said = events.map((event) => event.reason);
    expect(said.filter((r) => r !== 'HeldBlocked')).toEqual([
      'RollingOut',
      ...(expected.soaked ? ['Soaking'] : []),
      'RollingBack',
      'RolledBack',
      ...(expected.provenAgain ? ['Soaking', 'Promoted'] : []),
    ]);
    const rolledBack = events.find((event) => event.reason === 'RolledBack')?.note ?? '';
    expect(rolledBack).toMatch(expected.says);
    expect(rolledBack).toContain(good.reference);

    expect(await rig.imageOf(canary)).toBe(good.reference);
    expect(await rig.mark(canary, 'rolledBackFrom')).toBe(expected.provenAgain ? undefined : pushed.reference);
    await readyPod(rig, canary);
    const untouched = await rig.workload(other);
    expect(untouched.metadata.generation).toBe(1);
    expect(Object.keys(untouched.metadata.annotations ?? {}).filter((name) => name.includes('holdfast'))).toEqual([]);
    await release.end();
  });
});
