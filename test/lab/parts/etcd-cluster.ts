import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from '../find/build-lock.ts';
import { findProgram } from '../find/find-program.ts';
import { ETCD } from '../find/programs.ts';
import type { Log } from '../find/run-tool.ts';
import { readProcesses, startProcess, type ProcessSpec } from '../lab-process.ts';
import { readState, writeState } from '../lab-state.ts';
import { isAlive } from '../process-identity.ts';

/** The names of the members and of their processes: `lab.kill('etcd-2')` takes one away, `lab.start('etcd-2')` brings it back. */
export const ETCD_MEMBERS = ['etcd-1', 'etcd-2', 'etcd-3'] as const;
export type EtcdMember = (typeof ETCD_MEMBERS)[number];

/** One name for each port, as the lab chooses them. */
export const ETCD_CLUSTER_PORTS = [
  ...ETCD_MEMBERS,
  ...ETCD_MEMBERS.map((member) => `${member}-peer` as const),
] as const;
export type EtcdClusterPorts = Record<(typeof ETCD_CLUSTER_PORTS)[number], number>;

/** A cluster of three, on plain http, apart from the one that keeps the API server's objects. */
export interface EtcdCluster {
  /** Where clients reach each member: `/health`, `/metrics`, and `/v3/…` as JSON. */
  readonly urls: Readonly<Record<EtcdMember, string>>;
}

export function findEtcdCluster(log: Log): Promise<string> {
  return findProgram(ETCD, log);
}

/**
 * A lab's own cluster of three etcd members, which joins it now if it has not yet. Ends with the lab. Members that a test
 * killed stay away.
 *
 * @param lab its folder, as in `inject('lab')`
 */
export async function etcdClusterOf(
  lab: { readonly dir: string },
  log: Log = (line) => process.stderr.write(`lab: ${line}\n`),
): Promise<EtcdCluster> {
  const { dir } = lab;
  return withLock(join(dir, 'etcd-cluster.lock'), async () => {
    const state = readState(dir);
    if (!state) throw new Error(`there is no lab in ${dir}`);
    if (!state.parts.includes('etcd-cluster')) {
      await startEtcdCluster(dir, await findEtcdCluster(log), state.etcdClusterPorts);
      writeState(dir, { ...state, parts: [...state.parts, 'etcd-cluster'] });
    }
    const urlOf = (member: EtcdMember) => `http://127.0.0.1:${state.etcdClusterPorts[member]}`;
    return { urls: { 'etcd-1': urlOf('etcd-1'), 'etcd-2': urlOf('etcd-2'), 'etcd-3': urlOf('etcd-3') } };
  });
}

/** @returns when the cluster has a leader and every member follows */
export async function startEtcdCluster(dir: string, program: string, ports: EtcdClusterPorts): Promise<void> {
  const running = new Set(readProcesses(dir).flatMap(({ spec, id }) => (id && isAlive(id) ? [spec.name] : [])));
  const missing = ETCD_MEMBERS.filter((member) => !running.has(member));
  const results = await Promise.allSettled(
    missing.map((member) => startProcess(dir, memberProcess(dir, program, ports, member))),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason as Error;
}

function memberProcess(dir: string, program: string, ports: EtcdClusterPorts, member: EtcdMember): ProcessSpec {
  const home = join(dir, 'etcd-cluster', member);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const client = `http://127.0.0.1:${ports[member]}`;
  const peer = (name: EtcdMember) => `http://127.0.0.1:${ports[`${name}-peer`]}`;
  return {
    name: member,
    command: program,
    args: [
      `--name=${member}`,
      `--data-dir=${home}`,
      '--unsafe-no-fsync',
      '--log-level=warn',
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer(member)}`,
      `--initial-advertise-peer-urls=${peer(member)}`,
      `--initial-cluster=${ETCD_MEMBERS.map((name) => `${name}=${peer(name)}`).join(',')}`,
      '--initial-cluster-state=new',
    ],
    ready: { kind: 'http', url: `${client}/health` },
    readyTimeoutMs: 60_000,
  };
}
