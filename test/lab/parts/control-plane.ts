import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { findProgram } from '../find/find-program.ts';
import { ETCD, KUBE_APISERVER, KUBE_CONTROLLER_MANAGER, KUBE_SCHEDULER } from '../find/programs.ts';
import type { Log } from '../find/run-tool.ts';
import { kubeGetOrNull } from '../kube-api.ts';
import { writeKubeconfig } from '../kubeconfig.ts';
import type { LabEnv } from '../lab.ts';
import { startProcess, type ProcessSpec } from '../lab-process.ts';
import { labFiles } from '../paths.ts';
import { waitFor } from '../wait.ts';
import { auditPolicy } from './audit-policy.ts';
import { guardMachine } from './machine-guard.ts';

export const CONTROL_PLANE_PORTS = ['etcd', 'etcdPeer', 'apiServer', 'controllerManager', 'scheduler'] as const;
type Ports = Record<(typeof CONTROL_PLANE_PORTS)[number], number>;

export interface ControlPlanePrograms {
  etcd: string;
  apiServer: string;
  controllerManager: string;
  scheduler: string;
}

/** The name of the one real node; its kubelet has the rights of exactly this node. */
export const REAL_NODE = 'real-1';

/** The names of the real nodes that can be rebooted (parts/reboot-nodes.ts), which may join a lab later. */
export const REBOOT_NODES = ['reboot-1', 'reboot-2', 'reboot-3'] as const;
export type RebootNode = (typeof REBOOT_NODES)[number];

/** Who calls the API server, with the groups that real clusters give them: each has a static token of its own. */
const CALLERS = {
  admin: { user: 'admin', groups: 'system:masters' },
  'kube-controller-manager': { user: 'system:kube-controller-manager', groups: '' },
  'kube-scheduler': { user: 'system:kube-scheduler', groups: '' },
  kubelet: { user: `system:node:${REAL_NODE}`, groups: 'system:nodes' },
  'reboot-1': { user: 'system:node:reboot-1', groups: 'system:nodes' },
  'reboot-2': { user: 'system:node:reboot-2', groups: 'system:nodes' },
  'reboot-3': { user: 'system:node:reboot-3', groups: 'system:nodes' },
  kwok: { user: 'kwok', groups: 'system:masters' },
} as const;
export type Caller = keyof typeof CALLERS;

export async function findControlPlane(log: Log): Promise<ControlPlanePrograms> {
  return {
    etcd: await findProgram(ETCD, log),
    apiServer: await findProgram(KUBE_APISERVER, log),
    controllerManager: await findProgram(KUBE_CONTROLLER_MANAGER, log),
    scheduler: await findProgram(KUBE_SCHEDULER, log),
  };
}

/** The kubeconfig of one caller; the administrator's is the lab's own. */
export function callerKubeconfig(dir: string, caller: Caller): string {
  return caller === 'admin' ? labFiles(dir).kubeconfig : join(dir, 'control-plane', `${caller}.kubeconfig`);
}

export interface ControlPlaneStart {
  dir: string;
  programs: ControlPlanePrograms;
  ports: Ports;
  /** The second number of the lab's own 10.N network. */
  network: number;
  log: Log;
}

/**
 * Starts etcd, the API server, the controller manager and the scheduler, and writes the kubeconfig of each caller.
 *
 * @returns how to reach it as administrator
 */
export async function startControlPlane(
  start: ControlPlaneStart,
): Promise<Pick<LabEnv, 'apiServer' | 'caFile' | 'adminToken'>> {
  const { dir, ports, log } = start;
  mkdirSync(join(dir, 'control-plane', 'etcd'), { recursive: true, mode: 0o700 });
  const tokens = writeCredentials(dir);
  log('starting etcd and the API server');
  await startProcess(dir, etcdProcess(start));
  await startProcess(dir, apiServerProcess(start));

  const { caFile } = labFiles(dir);
  const apiServer = `https://127.0.0.1:${ports.apiServer}`;
  for (const caller of Object.keys(CALLERS) as Caller[]) {
    writeKubeconfig(callerKubeconfig(dir, caller), { server: apiServer, caFile, token: tokens[caller] });
  }
  const access = { apiServer, caFile, adminToken: tokens.admin };
  await Promise.all([
    startProcess(dir, controllerManagerProcess(start)),
    startProcess(dir, schedulerProcess(start)),
    waitFor('the namespace default has its service account', () =>
      kubeGetOrNull(access, '/api/v1/namespaces/default/serviceaccounts/default'),
    ).then(() => guardMachine(access)),
  ]);
  return access;
}

function writeCredentials(dir: string): Record<Caller, string> {
  const home = join(dir, 'control-plane');
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  writeFileSync(join(home, 'service-accounts.key'), privateKey, { mode: 0o600 });
  writeFileSync(join(home, 'service-accounts.pub'), publicKey);
  const tokens = Object.fromEntries(
    Object.keys(CALLERS).map((caller) => [caller, randomBytes(24).toString('hex')]),
  ) as Record<Caller, string>;
  const lines = Object.entries(CALLERS).map(
    ([caller, { user, groups }]) => `${tokens[caller as Caller]},${user},${caller},"${groups}"`,
  );
  writeFileSync(join(home, 'tokens.csv'), `${lines.join('\n')}\n`, { mode: 0o600 });
  writeFileSync(join(home, 'admin.token'), tokens.admin, { mode: 0o600 });
  writeFileSync(join(home, 'audit-policy.yaml'), stringify(auditPolicy()));
  return tokens;
}

function etcdProcess({ dir, programs, ports }: ControlPlaneStart): ProcessSpec {
  const client = `http://127.0.0.1:${ports.etcd}`;
  const peer = `http://127.0.0.1:${ports.etcdPeer}`;
  return {
    name: 'etcd',
    command: programs.etcd,
    args: [
      `--data-dir=${join(dir, 'control-plane', 'etcd')}`,
      // A lab need not survive the machine's power cut, only the death of its processes.
      '--unsafe-no-fsync',
      '--log-level=warn',
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
    ],
    ready: { kind: 'http', url: `${client}/health` },
    readyTimeoutMs: 60_000,
  };
}

function apiServerProcess({ dir, programs, ports, network }: ControlPlaneStart): ProcessSpec {
  const home = join(dir, 'control-plane');
  const files = labFiles(dir);
  return {
    name: 'kube-apiserver',
    command: programs.apiServer,
    args: [
      `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${ports.apiServer}`,
      `--cert-dir=${join(home, 'certs')}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${join(home, 'service-accounts.pub')}`,
      `--service-account-signing-key-file=${join(home, 'service-accounts.key')}`,
      `--token-auth-file=${join(home, 'tokens.csv')}`,
      // Real rights, so that denied can be told from absent, and the kubelet may do only what its own node needs.
      '--authorization-mode=Node,RBAC',
      `--service-cluster-ip-range=10.${network}.240.0/24`,
      '--allow-privileged=true',
      '--endpoint-reconciler-type=none',
      // The real node has no name in any DNS.
      '--kubelet-preferred-address-types=InternalIP',
      `--audit-policy-file=${join(home, 'audit-policy.yaml')}`,
      `--audit-log-path=${files.auditLog}`,
      '--audit-log-mode=blocking',
      // One file for the whole life of a lab: tests read it from a mark onwards.
      '--audit-log-maxsize=4096',
    ],
    ready: {
      kind: 'http',
      url: `https://127.0.0.1:${ports.apiServer}/readyz`,
      caFile: files.caFile,
      tokenFile: join(home, 'admin.token'),
    },
    readyTimeoutMs: 120_000,
  };
}

function controllerManagerProcess({ dir, programs, ports }: ControlPlaneStart): ProcessSpec {
  const home = join(dir, 'control-plane');
  return {
    name: 'kube-controller-manager',
    command: programs.controllerManager,
    args: [
      `--kubeconfig=${callerKubeconfig(dir, 'kube-controller-manager')}`,
      `--service-account-private-key-file=${join(home, 'service-accounts.key')}`,
      `--root-ca-file=${labFiles(dir).caFile}`,
      '--use-service-account-credentials=true',
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
      `--secure-port=${ports.controllerManager}`,
      `--cert-dir=${join(home, 'controller-manager')}`,
      '--controllers=*,-node-ipam-controller,-node-route-controller,-service-lb-controller',
      '--kube-api-qps=200',
      '--kube-api-burst=400',
    ],
    ready: portServes(home, 'controller-manager', ports.controllerManager),
    readyTimeoutMs: 60_000,
  };
}

function schedulerProcess({ dir, programs, ports }: ControlPlaneStart): ProcessSpec {
  const home = join(dir, 'control-plane');
  return {
    name: 'kube-scheduler',
    command: programs.scheduler,
    args: [
      `--kubeconfig=${callerKubeconfig(dir, 'kube-scheduler')}`,
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
      `--secure-port=${ports.scheduler}`,
      `--cert-dir=${join(home, 'scheduler')}`,
      '--kube-api-qps=200',
      '--kube-api-burst=400',
    ],
    ready: portServes(home, 'scheduler', ports.scheduler),
    readyTimeoutMs: 60_000,
  };
}

/** Both serve `/healthz` with a certificate of their own, which carries their program's name. */
function portServes(home: string, name: string, port: number): ProcessSpec['ready'] {
  return { kind: 'http', url: `https://127.0.0.1:${port}/healthz`, caFile: join(home, name, `kube-${name}.crt`) };
}
