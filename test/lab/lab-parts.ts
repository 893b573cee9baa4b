import { randomBytes, randomInt } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { withLock } from './find/build-lock.ts';
import type { Log } from './find/run-tool.ts';
import type { LabEnv, PartName } from './lab.ts';
import { startProcess } from './lab-process.ts';
import { listLabs, readState, writeState, type LabState } from './lab-state.ts';
import {
  CONTROL_PLANE_PORTS,
  findControlPlane,
  REAL_NODE,
  REBOOT_NODES,
  startControlPlane,
  type ControlPlanePrograms,
} from './parts/control-plane.ts';
import { ETCD_CLUSTER_PORTS, findEtcdCluster, startEtcdCluster } from './parts/etcd-cluster.ts';
import { findKeycloak, keycloakProcess, keycloakUrl } from './parts/keycloak.ts';
import { findKwok, kwokProcess } from './parts/kwok.ts';
import {
  findNode,
  NODE_PORTS,
  startContainerd,
  startKubelet,
  type NodePrograms,
  type NodeStart,
} from './parts/node.ts';
import { whyNoNode } from './parts/node-precheck.ts';
import { planNodeTraces } from './parts/node-traces.ts';
import { findPrometheus, prometheusProcess } from './parts/prometheus.ts';
import { findRebootNodes, startRebootNodes, type RebootNodePrograms } from './parts/reboot-nodes.ts';
import { findRegistry, registryProcess } from './parts/registry.ts';
import { findTemporal, TEMPORAL_PORTS, temporalProcess } from './parts/temporal.ts';
import { labFiles, labsDir } from './paths.ts';
import { choosePorts } from './ports.ts';

/** The programs of the parts asked for. */
export interface FoundParts {
  temporal: string | null;
  controlPlane: ControlPlanePrograms | null;
  kwok: string | null;
  registry: string | null;
  prometheus: string | null;
  keycloak: string | null;
  /** Or why there is no real node. */
  node: NodePrograms | string;
  rebootNodes: RebootNodePrograms | null;
  etcdCluster: string | null;
}

/** Finds or builds the programs of all parts, before anything is started. */
export async function findParts(parts: readonly PartName[], dirLength: number, log: Log): Promise<FoundParts> {
  const has = (part: PartName) => parts.includes(part);
  return {
    temporal: has('temporal') ? await findTemporal(log) : null,
    registry: has('registry') ? await findRegistry(log) : null,
    controlPlane: has('control-plane') ? await findControlPlane(log) : null,
    kwok: has('kwok') ? await findKwok(log) : null,
    prometheus: has('prometheus') ? await findPrometheus(log) : null,
    keycloak: has('keycloak') ? await findKeycloak(log) : null,
    rebootNodes: has('reboot-nodes') ? await findRebootNodes(dirLength, log) : null,
    etcdCluster: has('etcd-cluster') ? await findEtcdCluster(log) : null,
    node: has('node') ? (whyNoNode(dirLength) ?? (await findNode(log))) : 'no real node was asked for',
  };
}

export interface PartsStart {
  dir: string;
  parts: PartName[];
  found: FoundParts;
  log: Log;
}

const PORT_NAMES = [
  ...TEMPORAL_PORTS,
  ...CONTROL_PLANE_PORTS,
  ...NODE_PORTS,
  'registry',
  'kwok',
  'prometheus',
  'keycloak',
  ...REBOOT_NODES,
  ...ETCD_CLUSTER_PORTS,
] as const;

/** Starts all parts, those that do not need each other side by side. */
export async function startParts(start: PartsStart): Promise<LabState> {
  const { dir, found, log } = start;
  // One lab after the other chooses and writes down, so that two that start at once do not choose the same.
  const { ports, network, state } = await withLock(join(labsDir(), 'choose.lock'), () => prepare(start));
  const { env } = state;
  const node: NodeStart | null =
    typeof found.node === 'string' || !state.node
      ? null
      : { dir, programs: found.node, ports, network, traces: state.node, log };
  const done = Promise.resolve();
  const containerd = node ? startContainerd(node) : done;
  await allSettledOrThrow([
    containerd,
    found.temporal ? startProcess(dir, temporalProcess(dir, found.temporal, ports)) : done,
    found.registry ? startProcess(dir, registryProcess(dir, found.registry, ports.registry)) : done,
    found.prometheus ? startProcess(dir, prometheusProcess(dir, found.prometheus, ports.prometheus)) : done,
    found.keycloak ? startProcess(dir, keycloakProcess(dir, found.keycloak, state.keycloak)) : done,
    found.etcdCluster ? startEtcdCluster(dir, found.etcdCluster, state.etcdClusterPorts) : done,
    found.controlPlane
      ? startControlPlane({ dir, programs: found.controlPlane, ports, network, log }).then(async (access) => {
          Object.assign(env, access);
          await allSettledOrThrow([
            found.kwok ? startProcess(dir, kwokProcess(dir, found.kwok, ports.kwok)) : done,
            node ? containerd.then(() => startKubelet(node, env)) : done,
            found.rebootNodes ? startRebootNodes(state, found.rebootNodes, log) : done,
          ]);
        })
      : done,
  ]);
  return state;
}

/**
 * Chooses ports and network, and writes down what the lab will be before its first process starts: whoever finds it after
 * a kill must know what to remove.
 */
async function prepare({ dir, parts, found }: PartsStart) {
  const others = listLabs().flatMap((entry) => readState(entry.dir) ?? []);
  const ports = await choosePorts(PORT_NAMES, new Set(others.flatMap((state) => state.ports)));
  const network = chooseNetwork(new Set(others.map((state) => state.podNetwork)));
  const files = labFiles(dir);
  const password = randomBytes(12).toString('hex');
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
    prometheus: found.prometheus ? `http://127.0.0.1:${ports.prometheus}` : '',
    keycloak: found.keycloak ? keycloakUrl(ports.keycloak) : '',
    keycloakPassword: found.keycloak ? password : '',
    node: typeof found.node === 'string' ? null : REAL_NODE,
    nodeSkipReason: typeof found.node === 'string' ? found.node : null,
  };
  const state: LabState = {
    parts,
    ready: false,
    ports: Object.values(ports),
    podNetwork: network,
    node: typeof found.node === 'string' ? null : planNodeTraces(dir),
    keycloak: { port: ports.keycloak, password },
    rebootNodePorts: only(ports, REBOOT_NODES),
    etcdClusterPorts: only(ports, ETCD_CLUSTER_PORTS),
    env,
  };
  writeState(dir, state);
  return { ports, network, state };
}

function only<Name extends string>(ports: Record<Name, number>, names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, ports[name]])) as Record<Name, number>;
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
