import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { kube, kubeGetOrNull, KubeApiError } from './kube-api.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import type { Lab, LabEnv } from './lab.ts';
import { lineEndOf } from './line-end.ts';
import { labFiles } from './paths.ts';
import { waitFor } from './wait.ts';

/** A lab, or its environment as a test gets it by `inject('lab')`. */
export type LabOrEnv = LabEnv | Pick<Lab, 'env'>;

/** One rule of a Role, as RBAC writes it. */
export interface RbacRule {
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
  verbs: string[];
}

/**
 * A service account with exactly these rights, and a kubeconfig file with a real token of it (for a day).
 * What exists under that name is given the rights anew, so it may be called again to change them.
 *
 * @param rules rights within the namespace
 * @param clusterRules rights in the whole cluster
 * @param elsewhere rights in other namespaces, by their names
 * @returns the kubeconfig's path
 */
export async function serviceAccountKubeconfig(
  lab: LabOrEnv,
  {
    namespace,
    name,
    rules = [],
    clusterRules = [],
    elsewhere = {},
  }: {
    namespace: string;
    name: string;
    rules?: RbacRule[];
    clusterRules?: RbacRule[];
    elsewhere?: Record<string, RbacRule[]>;
  },
): Promise<string> {
  const env = envOf(lab);
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await createOrReplace(env, accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } });
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  const bind = async (kind: 'Role' | 'ClusterRole', folder: string, objectName: string, given: RbacRule[]) => {
    const metadata = { name: objectName };
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    await createOrReplace(env, `${folder}/${kind.toLowerCase()}s`, { apiVersion, kind, metadata, rules: given });
    await createOrReplace(env, `${folder}/${kind.toLowerCase()}bindings`, {
      apiVersion,
      kind: `${kind}Binding`,
      metadata,
      subjects,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: objectName },
    });
  };
  for (const [place, given] of Object.entries({ ...elsewhere, [namespace]: rules })) {
    await bind('Role', `${rbac}/namespaces/${place}`, name, given);
  }
  await bind('ClusterRole', rbac, `${namespace}-${name}`, clusterRules);
  const { status } = await kube<{ status: { token: string } }>(env, 'POST', `${accounts}/${name}/token`, {
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 86_400 } },
  });

  const folder = join(env.dir, 'service-accounts');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${namespace}-${name}.kubeconfig`);
  writeKubeconfig(path, { server: env.apiServer, caFile: env.caFile, token: status.token });
  return path;
}

/**
 * Creates a namespace and waits until pods can be created in it.
 *
 * @param prefix the name goes on with random letters, so that a test never meets what another left
 * @returns its name
 */
export async function createNamespace(lab: LabOrEnv, prefix = 'test'): Promise<string> {
  const env = envOf(lab);
  const name = `${prefix}-${randomBytes(3).toString('hex')}`;
  await kube(env, 'POST', '/api/v1/namespaces', { body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } } });
  await waitFor(`the namespace ${name} has its service account`, () =>
    kubeGetOrNull(env, `/api/v1/namespaces/${name}/serviceaccounts/default`),
  );
  return name;
}

/**
 * Deletes a namespace and waits until it and everything in it are gone.
 *
 * @param timeoutMs milliseconds; pods on the real node take their grace period
 */
export async function deleteNamespace(lab: LabOrEnv, name: string, timeoutMs = 120_000): Promise<void> {
  const env = envOf(lab);
  const path = `/api/v1/namespaces/${name}`;
  await kube(env, 'DELETE', path).catch((error: unknown) => {
    if (!(error instanceof KubeApiError && error.status === 404)) throw error;
  });
  await waitFor(`the namespace ${name} is gone`, async () => (await kubeGetOrNull(env, path)) === null, timeoutMs);
}

/** An event of the API server's audit log, as far as tests read it. One request has one `auditID` and one or more stages. */
export interface AuditEvent {
  auditID: string;
  level: 'Metadata' | 'Request' | 'RequestResponse';
  /** A watch has `ResponseStarted` when it begins and `ResponseComplete` when it ends; every other request only the latter. */
  stage: 'ResponseStarted' | 'ResponseComplete' | 'Panic';
  requestURI: string;
  verb: string;
  user: { username: string; groups?: string[] };
  userAgent?: string;
  objectRef?: {
    resource?: string;
    subresource?: string;
    namespace?: string;
    name?: string;
    apiGroup?: string;
    apiVersion?: string;
  };
  responseStatus?: { code?: number; reason?: string };
  requestObject?: unknown;
  responseObject?: unknown;
  /** ISO with microseconds. */
  requestReceivedTimestamp: string;
  stageTimestamp: string;
}

/** A place in the audit log. */
export interface AuditMark {
  /** Bytes. */
  readonly offset: number;
}

/** Where the audit log ends now: give it to {@link readAudit} to read only what came after. */
export async function markAudit(lab: LabOrEnv): Promise<AuditMark> {
  const env = envOf(lab);
  await auditBarrier(env, await lineEndOf(env.auditLog));
  return { offset: await lineEndOf(env.auditLog) };
}

/**
 * The audit log from a mark or an instant on [from its beginning], in the order written. Everything that was answered
 * before the call is in it. The cluster's own components appear with their writes only, without bodies.
 */
export async function readAudit(lab: LabOrEnv, since: AuditMark | Date = { offset: 0 }): Promise<AuditEvent[]> {
  const env = envOf(lab);
  const offset = since instanceof Date ? 0 : since.offset;
  const events = await auditBarrier(env, offset);
  const own = events.filter((event) => !event.requestURI.includes(BARRIER));
  if (!(since instanceof Date)) return own;
  return own.filter((event) => Date.parse(event.requestReceivedTimestamp) >= since.getTime());
}

const BARRIER = 'audit-barrier-';

/** Asks for something by a name used once, and reads the log until that request is in it. */
async function auditBarrier(env: LabEnv, from: number): Promise<AuditEvent[]> {
  const name = `${BARRIER}${randomBytes(8).toString('hex')}`;
  await kubeGetOrNull(env, `/api/v1/namespaces/${name}`);
  return waitFor('the audit log holds what was asked', async () => {
    const text = await readFrom(env.auditLog, from);
    if (!text.includes(name)) return null;
    return text
      .slice(0, text.lastIndexOf('\n') + 1)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as AuditEvent);
  });
}

async function readFrom(path: string, offset: number): Promise<string> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const buffer = Buffer.alloc(Math.max(0, size - offset));
    await file.read(buffer, 0, buffer.length, offset);
    return buffer.toString('utf8');
  } finally {
    await file.close();
  }
}

/** What Prometheus scrapes from now on (it notices within a second or so): host:port lists with labels of their own. */
export function setPrometheusTargets(
  lab: LabOrEnv,
  targets: { targets: string[]; labels?: Record<string, string> }[],
): void {
  writeFileSync(labFiles(envOf(lab).dir).prometheusTargets, JSON.stringify(targets));
}

/** The alerting rules that Prometheus evaluates from now on, each second. */
export async function setPrometheusRules(
  lab: LabOrEnv,
  rules: { alert: string; expr: string; for?: string }[],
): Promise<void> {
  const { dir, prometheus } = envOf(lab);
  const groups = rules.length === 0 ? [] : [{ name: 'tests', rules }];
  writeFileSync(labFiles(dir).prometheusRules, JSON.stringify({ groups }));
  const answer = await fetch(`${prometheus}/-/reload`, { method: 'POST' });
  if (!answer.ok) throw new Error(`Prometheus does not take the rules: ${answer.status} ${await answer.text()}`);
}

async function createOrReplace(
  env: LabEnv,
  collection: string,
  object: { metadata: { name: string }; [field: string]: unknown },
): Promise<void> {
  try {
    await kube(env, 'POST', collection, { body: object });
  } catch (error) {
    if (!(error instanceof KubeApiError && error.status === 409)) throw error;
    await kube(env, 'PUT', `${collection}/${object.metadata.name}`, { body: object });
  }
}

function envOf(lab: LabOrEnv): LabEnv {
  return 'env' in lab ? lab.env : lab;
}
