import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, test } from 'vitest';
import { createAbridger } from './demo/abridge.ts';
import { kube } from './kube-api.ts';
import { readProcesses } from './lab-process.ts';
import { isAlive } from './process-identity.ts';
import { GaveUp, waitFor } from './wait.ts';

const lab = inject('lab');
const main = fileURLToPath(new URL('demo/main.ts', import.meta.url));

/** Starts the demo in the shared lab, as `npm run demo -- --lab FOLDER` does. */
function startDemo() {
  const child = spawn(process.execPath, [main, '--lab', lab.dir], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  return {
    ended,
    output: () => output,
    interrupt: () => child.kill('SIGINT'),
    says: (text: string) =>
      waitFor(`the demo says "${text}"`, () => {
        if (child.exitCode !== null) throw new GaveUp(`it has ended with ${child.exitCode}:\n${output}`);
        return output.includes(text);
      }),
  };
}

/** What of the demo is still in the shared lab. */
async function leftOvers(): Promise<string[]> {
  const { items } = await kube<{ items: { metadata: { name: string } }[] }>(lab, 'GET', '/api/v1/namespaces');
  const namespaces = items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('shop-'));
  const processes = readProcesses(lab.dir)
    .filter(({ spec, id }) => /^(worker|fake-health)-shop-/.test(spec.name) && id !== null && isAlive(id))
    .map(({ spec }) => spec.name);
  const folders = readdirSync(lab.dir).filter((name) => name.startsWith('demo-'));
  return [...namespaces, ...processes, ...folders];
}

describe('the demo', () => {
  test('shows a good release, an approval, a bad release and a reverted swap, each with its proof, and leaves nothing', async () => {
    const demo = startDemo();
    const code = await demo.ended;
    expect(code, demo.output()).toBe(0);
    expect(demo.output().match(/^ {2}seen .*$/gm)).toHaveLength(4);
    expect(demo.output()).toContain(`${lab.temporalUi}/namespaces/default/workflows/release%2Fshop-`);
    expect(demo.output().includes('fakes of kwok')).toBe(lab.node === null);
    expect(demo.output()).not.toContain('\u001b');
    expect(await leftOvers()).toEqual([]);
  });

  test('takes everything down when it is left with Ctrl-C in the middle', async () => {
    const demo = startDemo();
    await demo.says('release/shop-');
    await demo.says('while it soaks');
    demo.interrupt();
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
