import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lockName } from '../../src/domain/node-reboot/by-hand.ts';
import { hostPods } from '../../src/domain/node-reboot/pod.ts';
import type { NodeRebootStatus } from '../../src/domain/node-reboot/status.ts';
import { kube } from '../lab/kube-api.ts';
import { startLab, type Lab } from '../lab/lab.ts';
import { simulateHosts, type SimulatedHosts } from '../lab/simulated-hosts.ts';
import { waitFor } from '../lab/wait.ts';
import { runCli, stackTraceIn, type CliRun } from '../unit/cli/run-cli.ts';
import { startCli, type RunningCli } from './start-cli.ts';

/** A command of the worker's configuration tells hosts that are played; its script only writes down what it was asked. */
const names = ['n1', 'n2'];
const folder = mkdtempSync(join(tmpdir(), 'holdfast-reboot-command-'));
const file = join(folder, 'node-reboot.yaml');
const script = join(folder, 'bmc');
const asked = join(folder, 'asked');
/** As long as this is there the script does not end. */
const hold = join(folder, 'hold');
const object = 'nodereboot/by-command';

let lab: Lab;
let hosts: SimulatedHosts;
let worker: RunningCli;
let playing: ReturnType<typeof setInterval>;

beforeAll(async () => {
  lab = await startLab({ parts: ['temporal', 'control-plane'], log: () => {} });
  hosts = await simulateHosts(lab.env, names);
  for (const name of [lockName.namespace, hostPods.namespace]) {
    await kube(lab.env, 'POST', '/api/v1/namespaces', {
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    });
  }
  await kube(lab.env, 'POST', `/api/v1/namespaces/${lockName.namespace}/configmaps`, {
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: lockName.name } },
  });
  writeFileSync(script, `#!/bin/sh\necho "$1 $2" >> ${asked}\nwhile [ -e ${hold} ]; do sleep 0.1; done\n`);
  chmodSync(script, 0o755);
  writeFileSync(asked, '');
  let told = 0;
  playing = setInterval(() => {
    for (const line of calls().slice(told)) {
      told += 1;
      const [name = '', bootId = ''] = line.split(' ');
      hosts.tell(name, bootId);
    }
  }, 50);
  worker = await startWorker();
});

afterAll(async () => {
  clearInterval(playing);
  rmSync(hold, { force: true });
  worker.signal('SIGTERM');
  await worker.exited;
  await hosts.stop();
  await lab.stop();
  rmSync(folder, { recursive: true });
});

const calls = () =>
  readFileSync(asked, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
const env = () => ({ TEMPORAL_ADDRESS: lab.env.temporalAddress, HOLDFAST_USER: 'ada' });

async function startWorker(): Promise<RunningCli> {
  const config = join(folder, 'worker.yaml');
  const commands = { bmc: { run: [script, '{node}', '{bootId}'] } };
  const clusters = { default: { kubeconfig: lab.env.kubeconfig } };
  const nodeReboot = { hostImage: 'simulated', commands };
  writeFileSync(config, JSON.stringify({ clusters, nodeReboot, listen: '127.0.0.1:0' }));
  const args = ['worker', '--capabilities', 'node-reboot', '--config', config, '--log-level', 'error'];
  const started = startCli(args, env());
  await started.says(/Worker polls/);
  return started;
}

async function holdfast(...args: string[]): Promise<CliRun> {
  const done = await runCli(args, { env: env() });
  expect(stackTraceIn(done)).toEqual([]);
  return done;
}

function write(command: string): void {
  const times = { interval: '10s', readyHold: '1s', releaseDelay: '0s', returnTimeout: '2m' };
  const gates = { dns: false, host: false };
  const spec = { mode: 'Enforce', nodes: names, approval: 'None', ...times, gates, method: { command } };
  const head = { apiVersion: 'holdfast.dev/v1alpha1', kind: 'NodeReboot', metadata: { name: 'by-command' } };
  writeFileSync(file, JSON.stringify({ ...head, spec }));
}

async function until(what: string, holds: (status: NodeRebootStatus) => boolean): Promise<NodeRebootStatus> {
  return waitFor(
    what,
    async () => {
      const { stdout, stderr, code } = await holdfast('status', object, '-o', 'json');
      if (code !== 0) throw new Error(stderr);
      const status = JSON.parse(stdout) as NodeRebootStatus;
      if (!holds(status)) throw new Error(JSON.stringify([status.phase, status.waiting, status.stopped]));
      return status;
    },
    120_000,
  );
}

test('a node is rebooted by a command of the worker, and one that the worker does not have holds it back', async () => {
  hosts.setSentinel('n1', ['libc6']);
  write('talos');
  const plan = await holdfast('plan', '-f', file);
  expect(plan.stdout).toContain('this worker has no reboot command "talos"; it has bmc');
  expect(plan.stdout).toContain('waits for gate method');
  const before = hosts.bootId('n1');
  write('bmc');
  expect(await holdfast('apply', '-f', file)).toMatchObject({ code: 0 });
  await until('n1 is done', (s) => s.turn === null && s.nodes.some((n) => n.node === 'n1' && n.reboot === 'done'));
  expect(calls()).toEqual([`n1 ${before}`]);
  expect(hosts.boots('n1')).toBe(2);
  expect((await holdfast('history', object)).stdout).toContain('is told to end, by command bmc');
});

test('NR-47 a worker that is killed while the command runs has it run once, and a person is asked before the next node', async () => {
  const before = hosts.bootId('n2');
  writeFileSync(hold, '');
  hosts.setSentinel('n2', ['libc6']);
  await holdfast('retry', object);
  await waitFor('the command runs', () => calls().some((line) => line.startsWith('n2')), 60_000);
  expect(existsSync(hold)).toBe(true);
  worker.signal('SIGKILL');
  await worker.exited;
  rmSync(hold);
  worker = await startWorker();
  await until('n2 is done', (s) => s.turn === null && s.nodes.some((n) => n.node === 'n2' && n.reboot === 'done'));
  expect(calls().filter((line) => line.startsWith('n2'))).toEqual([`n2 ${before}`]);
  expect(hosts.boots('n2')).toBe(2);
  expect((await holdfast('history', object)).stdout).toContain('it is not run again');
  hosts.setSentinel('n1', ['libc6', 'linux-base']);
  await until('a person is asked', (s) => s.waiting?.reason === 'AwaitingApproval');
});
