import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Lab } from '../lab.ts';
import { logTail, readProcess, startProcess } from '../lab-process.ts';
import { isAlive } from '../process-identity.ts';
import { labFiles } from '../paths.ts';
import { choosePorts } from '../ports.ts';
import type { Undo } from './set-up.ts';
import type { Stage } from './stage.ts';

const launcher = fileURLToPath(new URL('../../../bin/holdfast.js', import.meta.url));
const fakeHealth = fileURLToPath(new URL('fake-health.ts', import.meta.url));

/** `holdfast worker`, as a process of the lab: its log lies with the others, and it ends with the lab. */
export async function startWorker(lab: Lab, stage: Stage, undo: Undo): Promise<void> {
  const clusters = { default: { kubeconfig: lab.env.kubeconfig } };
  const config = { clusters, registries: { [lab.env.registry]: { plainHttp: true } } };
  const env = { TEMPORAL_ADDRESS: lab.env.temporalAddress };
  await startHoldfast(lab, { name: workerName(stage), folder: stage.folder, config, env, options: [] }, undo);
}

/** @param worker `options` beside those that every worker of a demo has */
export async function startHoldfast(
  lab: Lab,
  {
    name,
    folder,
    config,
    env,
    options,
  }: {
    readonly name: string;
    readonly folder: string;
    readonly config: object;
    readonly env: Record<string, string>;
    readonly options: readonly string[];
  },
  undo: Undo,
): Promise<void> {
  const file = join(folder, 'worker.yaml');
  writeFileSync(file, JSON.stringify(config));
  const { port } = await choosePorts(['port'], new Set());
  undo(() => end(lab, name));
  const common = ['--config', file, '--listen', `127.0.0.1:${port}`, '--log-level', 'warn'];
  await startProcess(lab.env.dir, {
    name,
    command: process.execPath,
    args: [launcher, 'worker', ...common, ...options],
    env,
    ready: { kind: 'http', url: `http://127.0.0.1:${port}/readyz` },
    readyTimeoutMs: 120_000,
  });
}

/** Why the worker is not there any more, with the end of its log; null while it runs. */
export function whyNoWorker(stage: Stage): string | null {
  return whyWorkerEnded(stage.lab.dir, workerName(stage));
}

/** The same of a worker by the name of its process. @param dir folder of the lab */
export function whyWorkerEnded(dir: string, name: string): string | null {
  const { id } = readProcess(dir, name);
  return id !== null && isAlive(id) ? null : `the worker has ended\n${logTail(dir, name)}`;
}

/** Answers for the health of fake pods. @returns its address */
export async function startFakeHealth(lab: Lab, namespace: string, undo: Undo): Promise<string> {
  const { port } = await choosePorts(['port'], new Set());
  const name = `fake-health-${namespace}`;
  const address = `http://127.0.0.1:${port}`;
  undo(() => end(lab, name));
  await startProcess(lab.env.dir, {
    name,
    command: process.execPath,
    args: [fakeHealth, lab.env.dir, namespace, String(port)],
    ready: { kind: 'http', url: `${address}/` },
    readyTimeoutMs: 60_000,
  });
  return address;
}

/** Ends a process, and nothing of it stays in the lab but its log. */
async function end(lab: Lab, name: string): Promise<void> {
  await lab.kill(name, 'SIGTERM').catch(() => undefined); // it may have ended by itself
  rmSync(join(labFiles(lab.env.dir).processes, `${name}.json`), { force: true });
}

function workerName({ namespace }: Stage): string {
  return `worker-${namespace}`;
}
