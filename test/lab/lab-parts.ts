import { randomInt } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import type { Log } from './find/run-tool.ts';
import type { LabEnv, PartName } from './lab.ts';
import { startProcess } from './lab-process.ts';
import { listLabs, readState, writeState, type LabState } from './lab-state.ts';
import {
  CONTROL_PLANE_PORTS,
  findControlPlane,
  startControlPlane,
  type ControlPlanePrograms,
} from './parts/control-plane.ts';
import { findKwok, kwokProcess } from './parts/kwok.ts';
import { findRegistry, registryProcess } from './parts/registry.ts';
import { findTemporal, TEMPORAL_PORTS, temporalProcess } from './parts/temporal.ts';
import { labFiles } from './paths.ts';
import { choosePorts } from './ports.ts';

/** The programs of the parts asked for. */
export interface FoundParts {
  temporal: string | null;
  controlPlane: ControlPlanePrograms | null;
  kwok: string | null;
  registry: string | null;
}

/** Finds or builds the programs of all parts, before anything is started. */
export async function findParts(parts: readonly PartName[], log: Log): Promise<FoundParts> {
  const has = (part: PartName) => parts.includes(part);
  return {
    temporal: has('temporal') ? await findTemporal(log) : null,
    registry: has('registry') ? await findRegistry(log) : null,
    controlPlane: has('control-plane') ? await findControlPlane(log) : null,
    kwok: has('kwok') ? await findKwok(log) : null,
  };
}

export interface PartsStart {
  dir: string;
  parts: PartName[];
  found: FoundParts;
  temporary: boolean;
  log: Log;
}

const PORT_NAMES = [...TEMPORAL_PORTS, ...CONTROL_PLANE_PORTS, 'registry', 'kwok'] as const;

/** Starts all parts, those that do not need each other side by side. */
export async function startParts({ dir, parts, found, temporary, log }: PartsStart): Promise<LabState> {
  const others = listLabs().flatMap((entry) => readState(entry.dir) ?? []);
  const ports = await choosePorts(PORT_NAMES, new Set(others.flatMap((state) => state.ports)));
  const network = chooseNetwork(new Set(others.map((state) => state.podNetwork)));
  const files = labFiles(dir);
  const env: LabEnv = {
    dir,
    kubeconfig: found.controlPlane ? files.kubeconfig : '',
    apiServer: '',
    caFile: '',
    adminToken: '',
    auditLog: found.controlPlane ? files.auditLog : '',
    temporalAddress: found.temporal ? `127.0.0.1:${ports.temporal}` : '',
    temporalUi: found.temporal ? `http://127.0.0.1:${ports.temporalUi}` : '',
    registry: found.registry ? `127.0.0.1:${ports.registry}` : '',
    prometheus: '',
    node: null,
    nodeSkipReason: 'no real node was asked for',
  };
  const state: LabState = {
    parts,
    ready: false,
    ports: Object.values(ports),
    podNetwork: network,
    temporary,
    node: null,
    env,
  };
  // Before the first process: whoever finds the lab after a kill must know what to remove.
  writeState(dir, state);

  const done = Promise.resolve();
  await allSettledOrThrow([
    found.temporal ? startProcess(dir, temporalProcess(dir, found.temporal, ports)) : done,
    found.registry ? startProcess(dir, registryProcess(dir, found.registry, ports.registry)) : done,
    found.controlPlane ? startCluster(dir, found, found.controlPlane, ports, network, env, log) : done,
  ]);
  return state;
}

async function startCluster(
  dir: string,
  found: FoundParts,
  programs: ControlPlanePrograms,
  ports: Record<(typeof PORT_NAMES)[number], number>,
  network: number,
  env: LabEnv,
  log: Log,
): Promise<void> {
  Object.assign(env, await startControlPlane({ dir, programs, ports, network, log }));
  if (found.kwok) await startProcess(dir, kwokProcess(dir, found.kwok, ports.kwok));
}

/** Waits for all, so that nothing is still starting when the first error is reported. */
async function allSettledOrThrow(starts: Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(starts);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason as Error;
}

/** A 10.N network that neither this machine nor another lab uses. */
function chooseNetwork(taken: ReadonlySet<number | null>): number {
  const here = Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).map(({ address }) => address),
  );
  for (let attempt = 0; attempt < 1000; attempt += 1) {
    const candidate = randomInt(90, 250);
    if (!taken.has(candidate) && !here.some((address) => address.startsWith(`10.${candidate}.`))) return candidate;
  }
  throw new Error('no free network 10.N.0.0/16 for the lab: all of 10.90 to 10.249 are in use');
}
