import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parse, stringify } from 'yaml';
import { createKubernetes } from '../../../src/activities/kubernetes/create.ts';
import type { KubernetesClient } from '../../../src/activities/kubernetes/port.ts';

/** The lab's cluster for one test file: as its administrator, as somebody without rights, and in namespaces of its own. */
export interface TestCluster {
  readonly port: KubernetesClient;
  readonly nobody: KubernetesClient;
  /** Makes an empty namespace, which goes with close(). */
  namespace(): Promise<string>;
  close(): Promise<void>;
}

/** Connects to the cluster of a kubeconfig. */
export async function connect(kubeconfig: string): Promise<TestCluster> {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-test-'));
  const port = await createKubernetes({ name: 'lab', kubeconfig });
  const nobody = await createKubernetes({ name: 'lab', kubeconfig: asNobody(kubeconfig, dir) });
  const namespaces: string[] = [];
  return {
    port,
    nobody,
    async namespace() {
      const name = `k8s-${Math.random().toString(36).slice(2, 10)}`;
      const outcome = await port.create(
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
        { fieldManager: 'test' },
      );
      if (outcome.kind !== 'written') throw new Error(outcome.message);
      namespaces.push(name);
      return name;
    },
    async close() {
      for (const name of namespaces) {
        await port.delete({ apiVersion: 'v1', kind: 'Namespace', name }, { propagationPolicy: 'Background' });
      }
      await port.close();
      await nobody.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The same kubeconfig, impersonating a user that no role is bound to. */
function asNobody(kubeconfig: string, dir: string): string {
  const config = parse(readFileSync(kubeconfig, 'utf8')) as {
    users: { user: Record<string, unknown> }[];
    clusters: { cluster: Record<string, unknown> }[];
  };
  for (const { user } of config.users) user.as = 'holdfast-test-nobody';
  for (const { cluster } of config.clusters) {
    const ca = cluster['certificate-authority'];
    if (typeof ca === 'string') cluster['certificate-authority'] = resolve(dirname(kubeconfig), ca);
  }
  const file = join(dir, 'nobody.kubeconfig');
  writeFileSync(file, stringify(config), { mode: 0o600 });
  return file;
}
