import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LabEnv, PartName } from './lab.ts';
import type { RebootNode } from './parts/control-plane.ts';
import type { EtcdClusterPorts } from './parts/etcd-cluster.ts';
import { labFiles, labsDir } from './paths.ts';
import { isAlive, processesOfLab, type ProcessId } from './process-identity.ts';
import { readProcesses } from './lab-process.ts';

/** What the real node leaves on the machine outside the lab's folder, written down before it is made. */
export interface NodeTraces {
  bridge: string;
  /** Path below each cgroup hierarchy. */
  cgroup: string;
  /** Folders outside the lab that did not exist before: removed again if they are empty. */
  createdDirs: string[];
}

/** A lab's record in its own folder: enough to attach to it, and to take it down without the process that started it. */
export interface LabState {
  parts: PartName[];
  /** False until everything serves. */
  ready: boolean;
  ports: number[];
  /** The second number of the pods' network 10.N.0.0/17; null without a real node. */
  podNetwork: number | null;
  node: NodeTraces | null;
  /** Chosen with the lab, so that Keycloak can join it later. */
  keycloak: { port: number; password: string };
  /** The kubelets' ports, chosen with the lab for the same reason. */
  rebootNodePorts: Record<RebootNode, number>;
  etcdClusterPorts: EtcdClusterPorts;
  env: LabEnv;
}

/** An entry in the list of this user's labs. */
export interface LabEntry {
  dir: string;
  /** The process that the lab ends with; null for a lab that stays until it is taken down. */
  owner: ProcessId | null;
  /** The folder was made by the lab and goes with it. */
  temporary: boolean;
  startedAt: string;
}

/** Short and unique for each folder: names the bridge and the cgroup. */
export function labId(dir: string): string {
  return createHash('sha256').update(dir).digest('hex').slice(0, 6);
}

export function readState(dir: string): LabState | null {
  const path = labFiles(dir).state;
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as LabState) : null;
}

export function writeState(dir: string, state: LabState): void {
  writeWhole(labFiles(dir).state, state);
}

/** Lists a lab, before anything of it is made. */
export function registerLab(entry: LabEntry): void {
  mkdirSync(labsDir(), { recursive: true });
  writeWhole(entryPath(entry.dir), entry);
}

export function unregisterLab(dir: string): void {
  rmSync(entryPath(dir), { force: true });
}

export function listLabs(): LabEntry[] {
  if (!existsSync(labsDir())) return [];
  return readdirSync(labsDir())
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      try {
        return [JSON.parse(readFileSync(join(labsDir(), name), 'utf8')) as LabEntry];
      } catch {
        return []; // taken down by somebody else between listing and reading
      }
    });
}

/**
 * Whether nobody will come back for a lab: its owner has gone, or it has no owner and nothing of it runs (the machine was
 * started anew, or its processes were killed one by one).
 */
export function isAbandoned(entry: LabEntry): boolean {
  if (entry.owner) return !isAlive(entry.owner);
  return !hasLiveProcesses(entry.dir);
}

function hasLiveProcesses(dir: string): boolean {
  return readProcesses(dir).some(({ id }) => id !== null && isAlive(id)) || processesOfLab(dir).length > 0;
}

function entryPath(dir: string): string {
  return join(labsDir(), `${labId(dir)}.json`);
}

function writeWhole(path: string, value: unknown): void {
  writeFileSync(`${path}.new`, JSON.stringify(value, null, 2), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
