import { readdirSync } from 'node:fs';
import { describe, expect, inject, test } from 'vitest';
import { createAbridger } from './demo/abridge.ts';
import { keycloakAdmin } from './keycloak-admin.ts';
import { kube } from './kube-api.ts';
import { readProcesses } from './lab-process.ts';
import { keycloakOf } from './parts/keycloak.ts';
import { isAlive } from './process-identity.ts';
import { startDemo } from './start-demo.ts';

const lab = inject('lab');
/** What of the demo is still in the shared lab. */
async function leftOvers(): Promise<string[]> {
  const { items } = await kube<{ items: { metadata: { name: string } }[] }>(lab, 'GET', '/api/v1/namespaces');
  const namespaces = items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('shop-'));
  const processes = readProcesses(lab.dir)
    .filter(
      ({ spec, id }) => /^((worker|fake-health)-shop|worker-login)-/.test(spec.name) && id !== null && isAlive(id),
    )
    .map(({ spec }) => spec.name);
  const folders = readdirSync(lab.dir).filter((name) => name.startsWith('demo-'));
  return [...namespaces, ...processes, ...folders];
}

describe('the demo', () => {
  test('shows a good release, an approval, a bad release and a reverted swap, each with its proof, and leaves nothing', async () => {
    const demo = startDemo(lab.dir);
    const code = await demo.ended;
    expect(code, demo.output()).toBe(0);
    expect(demo.output().match(/^ {2}seen .*$/gm)).toHaveLength(4);
    expect(demo.output()).toContain(`${lab.temporalUi}/namespaces/default/workflows/release%2Fshop-`);
    expect(demo.output().includes('fakes of kwok')).toBe(lab.node === null);
    expect(demo.output()).not.toContain('\u001b');
    expect(await leftOvers()).toEqual([]);
  });

  test('takes everything down when it is left with Ctrl-C in the middle', async () => {
    const demo = startDemo(lab.dir);
    await demo.says('release/shop-');
    await demo.says('while it soaks');
    demo.interrupt();
    demo.interrupt();
    expect(await demo.ended).toBe(130);
    expect(demo.output()).not.toContain('DID NOT HAPPEN');
    expect(await leftOvers()).toEqual([]);
  });
});

/** Each command of it is a process of its own, which a busy machine starts slowly. */
describe('the demo of a login flow', { timeout: 400_000 }, () => {
  test('shows build, proof, approval, bind, a repair and the way back on a real Keycloak, and leaves nothing', async () => {
    const keycloak = await keycloakOf(lab);
    const demo = startDemo(lab.dir, 'keycloak');
    const code = await demo.ended;
    const output = demo.output();
    expect(code, output).toBe(0);
    expect(output.match(/^ {2}seen .*$/gm)).toHaveLength(4);
    for (const voice of ['you', 'holdfast', 'keycloak', 'check']) {
      expect(output).toMatch(new RegExp(`^ +\\d+\\.\\ds {2}${voice} +\\S`, 'm'));
    }
    expect(output).toContain('the login proof passed (6 logins)');
    expect(output).not.toContain('\u001b');
    expect(await leftOvers()).toEqual([]);
    const realm = /console\/#\/(\S+)/.exec(output)?.[1] ?? '';
    await expect(keycloakAdmin(keycloak).ask('GET', `/${realm}`)).rejects.toThrow('404');
  });

  test('takes everything down when it is left with Ctrl-C in the middle', async () => {
    const demo = startDemo(lab.dir, 'keycloak');
    await demo.says('$ holdfast run');
    demo.interrupt();
    expect(await demo.ended).toBe(130);
    expect(demo.output()).not.toContain('DID NOT HAPPEN');
    expect(await leftOvers()).toEqual([]);
  });
});

describe('its lines', () => {
  const digest = 'ab'.repeat(32);

  test('show images by their tag and digests by their beginning', () => {
    const line = createAbridger();
    expect(line(`canary: RollingOut: rolling out 1.1.0 (127.0.0.1:5000/shop/web:1.1.0@sha256:${digest})`)).toBe(
      'canary: RollingOut: rolling out 1.1.0',
    );
    expect(line(`blocked: sha256:${digest}`)).toBe('blocked: sha256:abababababab');
  });

  test('tell a long reason once, and always who and what', () => {
    const line = createAbridger();
    const reason = 'the container has ended during the soak with exit code 1';
    expect(line(`canary: RollingBack: ${reason}`)).toBe(`canary: RollingBack: ${reason}`);
    expect(line(`rollout 1 ended: RolledBack: 0 of 3 promoted; ${reason}`)).toBe(
      'rollout 1 ended: RolledBack: 0 of 3 promoted',
    );
    expect(line(`north: StoppedByFailure: ${reason}`)).toBe('north: StoppedByFailure (why is above)');
  });
});
