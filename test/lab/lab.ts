import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Log } from './find/run-tool.ts';
import { killProcess, readProcess, startProcess } from './lab-process.ts';
import { isAbandoned, listLabs, readState, registerLab, writeState, type LabState } from './lab-state.ts';
import { findParts, startParts } from './lab-parts.ts';
import { temporaryLabPrefix } from './paths.ts';
import { identify } from './process-identity.ts';
import { addFakeNodes, removeFakeNodes, type FakeNodes } from './parts/fake-nodes.ts';
import { takeDownAbandonedLabs, teardown } from './teardown.ts';

/** What every lab has unless it is told otherwise. */
export const DEFAULT_PARTS = ['temporal', 'control-plane', 'kwok', 'node', 'registry', 'prometheus'] as const;
/** What costs much and few tests need joins a lab when the first test asks for it. */
export const PART_NAMES = [...DEFAULT_PARTS, 'keycloak', 'reboot-nodes', 'etcd-cluster'] as const;
export type PartName = (typeof PART_NAMES)[number];

/** How to reach a lab's parts. Plain data. What belongs to a part that was not asked for is an empty string. */
export interface LabEnv {
  /** The lab's folder; logs lie in `log/`. */
  dir: string;
  /** The administrator's kubeconfig file. */
  kubeconfig: string;
  apiServer: string;
  caFile: string;
  adminToken: string;
  auditLog: string;
  /** host:port, without TLS; namespace `default`. */
  temporalAddress: string;
  temporalUi: string;
  /** host:port, plain http. */
  registry: string;
  /** URL. */
  prometheus: string;
  /** URL, plain http; empty until it was asked for, by `parts` or by `keycloakOf` (parts/keycloak.ts). */
  keycloak: string;
  /** Of the user `admin` of its realm `master`. */
  keycloakPassword: string;
  /** The real node's name, null where it cannot run. */
  node: string | null;
  /** Why there is no real node; null where there is one. */
  nodeSkipReason: string | null;
}

export interface Lab {
  env: LabEnv;
  /** Ends everything and removes what it left. */
  stop(): Promise<void>;
  /** Sends a signal [SIGKILL] to one process and waits until it has gone (SIGSTOP and SIGCONT do not wait). */
  kill(process: string, signal?: NodeJS.Signals): Promise<void>;
  /** Starts a process again, the same way and on the same port, and waits until it serves. */
  start(process: string): Promise<void>;
  addNodes(spec: FakeNodes): Promise<string[]>;
  removeNodes(names: string[]): Promise<void>;
}

export interface LabOptions {
  parts: readonly PartName[];
  /** State folder; a fresh temporary one when absent. Of one that is given, the logs stay after `stop`. */
  dir?: string;
  /** Progress for people; standard error when absent. */
  log?: (line: string) => void;
  /** True for a lab that outlives this process [false: the next start takes it down once this process has gone]. */
  detached?: boolean;
}

/**
 * Starts the parts asked for (and those that they need) on free ports, after taking down what killed labs left behind.
 * Programs that are neither on PATH nor in the cache are built first, which takes minutes once.
 *
 * @returns when every part serves
 * @throws Error when a part cannot be had or does not start; nothing is left running
 */
export async function startLab(options: LabOptions): Promise<Lab> {
  const log: Log = options.log ?? ((line) => process.stderr.write(`lab: ${line}\n`));
  await takeDownAbandonedLabs(log);
  const parts = withNeeds(options.parts);
  const dir = prepareFolder(options.dir);
  const entry = { dir, temporary: options.dir === undefined, startedAt: new Date().toISOString() };
  registerLab({ ...entry, owner: identify(process.pid) });
  try {
    const found = await findParts(parts, dir.length, log);
    const state = await startParts({ dir, parts, found, log });
    writeState(dir, { ...state, ready: true });
    if (options.detached) registerLab({ ...entry, owner: null });
    return labOf(dir, state.env);
  } catch (error) {
    await teardown(dir);
    throw error;
  }
}

/** A lab that another process started. @throws Error when there is none in `dir`, or it is not up */
export async function attachLab(dir: string): Promise<Lab> {
  const state = await Promise.resolve(readRunning(dir));
  return labOf(state.env.dir, state.env);
}

function labOf(dir: string, env: LabEnv): Lab {
  return {
    env,
    stop: () => teardown(dir),
    kill: (name, signal = 'SIGKILL') => killProcess(dir, name, signal),
    start: (name) => startProcess(dir, readProcess(dir, name).spec),
    addNodes: (spec) => addFakeNodes(env, spec),
    removeNodes: (names) => removeFakeNodes(env, names),
  };
}

function readRunning(dir: string): LabState {
  const state = existsSync(dir) ? readState(realpathSync(dir)) : null;
  if (!state) throw new Error(`there is no lab in ${dir}: start one with \`npm run lab -- up --dir ${dir}\``);
  if (!state.ready) throw new Error(`the lab in ${dir} is not up yet, or did not come up`);
  return state;
}

/** kwok, the real node and those that reboot are nodes of the control plane. */
function withNeeds(parts: readonly PartName[]): PartName[] {
  const wanted = new Set<PartName>(parts);
  const nodes = ['kwok', 'node', 'reboot-nodes'] as const;
  if (nodes.some((part) => wanted.has(part))) wanted.add('control-plane');
  return PART_NAMES.filter((part) => wanted.has(part));
}

function prepareFolder(asked: string | undefined): string {
  if (asked === undefined) return realpathSync(mkdtempSync(temporaryLabPrefix()));
  mkdirSync(resolve(asked), { recursive: true });
  const dir = realpathSync(asked);
  const running = listLabs().find((entry) => entry.dir === dir && !isAbandoned(entry));
  if (running) throw new Error(`a lab is already running in ${dir}: attach to it, or take it down first`);
  const foreign = readdirSync(dir).filter((name) => name !== 'log');
  if (foreign.length === 0) return dir;
  throw new Error(`${dir} holds other files (${foreign.slice(0, 3).join(', ')}): a lab wants an empty folder`);
}
