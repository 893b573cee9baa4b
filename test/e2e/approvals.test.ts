import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { ReleaseHistory } from '../../src/domain/release/history.ts';
import { releaseId } from '../../src/workflows/release/messages.ts';
import { runCli, type CliRun } from '../unit/cli/run-cli.ts';
import { startFleet, type Fleet } from './fleet.ts';
import { allCurrent } from './rig.ts';

const lab = inject('lab');
let folder: string;
let fleet: Fleet;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-approvals-'));
  for (const name of ['ada', 'eve']) {
    execFileSync('ssh-keygen', [
      '-q',
      '-t',
      'ed25519',
      '-N',
      '',
      '-C',
      `${name}@example.com`,
      '-f',
      join(folder, name),
    ]);
  }
  fleet = await startFleet(lab, 'signed');
});

afterAll(async () => {
  await fleet.close();
  rmSync(folder, { recursive: true });
});

/** The file with what `ssh-keygen -Y sign` makes of a plan hash, as people are told to make it. */
function sign(who: 'ada' | 'eve', planHash: string): string {
  const command = `printf %s ${planHash} | ssh-keygen -Y sign -n holdfast -f ${join(folder, who)}`;
  const signature = execFileSync('sh', ['-c', command], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const file = join(folder, `${who}.sig`);
  writeFileSync(file, signature);
  return file;
}

function holdfast(...args: string[]): Promise<CliRun> {
  return runCli(args, { env: { TEMPORAL_ADDRESS: lab.temporalAddress, HOLDFAST_USER: 'ci' } });
}

/** A release that waits for an approval of 1.1.0, which ada alone may give. */
async function waiting(name: string, approval: 'beforeFirst' | 'afterCanary') {
  const one = await fleet.image(name, '1.0.0');
  const targets = [`${name}-a`, `${name}-b`];
  await fleet.deployHubs(one.reference, ...targets);
  const approvers = [{ name: 'ada', key: readFileSync(join(folder, 'ada.pub'), 'utf8') }];
  const release = await fleet.apply(name, fleet.spec(name, targets, { approval, approvers }));
  await release.until('current on 1.0.0', allCurrent('1.0.0'));
  const two = await fleet.image(name, '1.1.0');
  const { planHash, rollout } = await release.until('an approval', (s) => s.phase === 'AwaitingApproval');
  return { release, object: releaseId(release.name), two, planHash: rollout?.planHash ?? planHash };
}

describe('an approval of a step', () => {
  test('in Shadow waits for Enforce, is not asked for again, and then goes on', async () => {
    const one = await fleet.image('shadow', '1.0.0');
    await fleet.deployHubs(one.reference, 'shadow-a', 'shadow-b');
    const spec = fleet.spec('shadow', ['shadow-a', 'shadow-b'], { approval: 'afterCanary' });
    const release = await fleet.apply('shadow', spec);
    const object = releaseId(release.name);
    await release.until('current on 1.0.0', allCurrent('1.0.0'));
    const two = await fleet.image('shadow', '1.1.0');
    const { rollout } = await release.until('an approval', (s) => s.phase === 'AwaitingApproval');
    expect((await holdfast('set-mode', object, 'Shadow')).code).toBe(0);
    await release.until('a wait for Enforce', (s) => s.waiting?.for.startsWith('mode Enforce') === true);
    const approved = await holdfast('approve', object, '--plan', rollout?.planHash ?? '');
    expect(approved.code).toBe(0);
    expect(approved.stdout).toContain(`it goes on in mode Enforce: holdfast set-mode ${object} Enforce`);
    const status = await release.until('the step to be let go', (s) => s.phase === 'RollingOut');
    expect(status.effectiveMode).toBe('Shadow');
    expect(status.waiting?.next).toContain('set-mode');
    expect(await fleet.imageOf('shadow-b')).toBe(one.reference);
    expect((await holdfast('set-mode', object, 'Enforce')).code).toBe(0);
    await release.until('current on 1.1.0', allCurrent('1.1.0'));
    expect(await fleet.imageOf('shadow-b')).toBe(two.reference);
    await release.end();
  });
});

describe('a release with approvers', () => {
  test('is approved by the signature that an approver made with ssh-keygen, and by nothing less', async () => {
    const { release, object, two, planHash } = await waiting('signed', 'beforeFirst');
    const plan = ['--plan', planHash.slice(0, 20)];

    const unsigned = await holdfast('approve', object, ...plan);
    expect(unsigned.code).toBe(2);
    expect(unsigned.stderr).toContain(`printf %s ${planHash} | ssh-keygen -Y sign -n holdfast`);
    const stranger = await holdfast('approve', object, ...plan, '--signature', sign('eve', planHash));
    expect(stranger.code).toBe(2);
    expect(stranger.stderr).toContain('is not that of an approver; approvers are ada');
    const other = await holdfast('approve', object, ...plan, '--signature', sign('ada', `sha256:${'0'.repeat(64)}`));
    expect(other.code).toBe(2);
    expect(other.stderr).toContain(`the signature of ada is not over plan ${planHash}`);
    const stale = await holdfast('approve', object, '--plan', '00000000', '--signature', sign('ada', '00000000'));
    expect(stale.code).toBe(2);
    expect(stale.stderr).toContain('is not the one that waits');
    expect(await fleet.imageOf('signed-a')).not.toBe(two.reference);

    const right = await holdfast('approve', object, ...plan, '--signature', sign('ada', planHash), '--reason', 'read');
    expect(right).toMatchObject({ code: 0, stderr: '' });
    expect(right.stdout).toMatch(/signed with SHA256:\S+, sent by ci/);
    await release.until('current on 1.1.0', allCurrent('1.1.0'));
    expect(await fleet.imageOf('signed-b')).toBe(two.reference);
    const history = await holdfast('history', object);
    expect(history.stdout).toMatch(/ refused +approve: the signature of ada is not over plan /);
    await release.end();
  });

  test('takes the signature of a step by signal too, and keeps why another signal was refused', async () => {
    const { release, object, two, planHash } = await waiting('steps', 'afterCanary');
    const said = { by: 'ci', reason: 'by signal', target: 'steps-b' };
    const signature = (who: 'ada' | 'eve') => readFileSync(sign(who, planHash), 'utf8');
    await release.signal('approve', said);
    await release.signal('approve', { ...said, signature: signature('eve') });
    expect((await release.status()).phase).toBe('AwaitingApproval');
    expect(await fleet.imageOf('steps-b')).not.toBe(two.reference);
    await release.signal('approve', { ...said, signature: signature('ada') });
    await release.until('current on 1.1.0', allCurrent('1.1.0'));

    const shown = await holdfast('history', object);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toMatch(
      / ada +accepted +approves 1\.1\.0 on steps-b .*signed with SHA256:\S+, sent by ci: by signal/,
    );
    expect(shown.stdout).toMatch(/ refused +approve by signal: this release has approvers/);
    expect(shown.stdout).toMatch(/ refused +approve by signal: the key SHA256:\S+ is not that of an approver/);
    const data = JSON.parse((await holdfast('history', object, '-o', 'json')).stdout) as ReleaseHistory;
    expect(data).toMatchObject({
      name: release.name,
      rollouts: 1,
      dropped: 0,
      items: [{ outcome: 'Promoted' }],
    });
    expect(data.evidence.map(({ kind, by, outcome }) => [kind, by ?? outcome])).toEqual([
      ['outcome', 'Promoted'],
      ['decision', 'ada'],
      ['decision', 'refused'],
      ['decision', 'refused'],
    ]);
    await release.end();
  });
});
