import { kube, kubeGetOrNull } from './kube-api.ts';
import type { LabEnv } from './lab.ts';
import { waitFor } from './wait.ts';

/*
 * The kinds of storage, database and virtual-machine operators in a lab where the operators themselves do not run: group,
 * versions, plural and subresources as upstream has them, fields unchecked. Tests write what the operator would.
 */

interface Kind {
  readonly group: string;
  /** The first one is stored. */
  readonly versions: readonly string[];
  readonly kind: string;
  readonly plural: string;
  /** Without it what is written to the object itself includes its status. */
  readonly status: boolean;
}

const longhorn = { group: 'longhorn.io', versions: ['v1beta2'], status: true };
const kubeVirt = { group: 'kubevirt.io', versions: ['v1', 'v1alpha3'] };

/** longhorn/longhorn, chart/templates/crds.yaml at 034c671. */
export const longhornKinds: readonly Kind[] = [
  { ...longhorn, kind: 'Volume', plural: 'volumes' },
  { ...longhorn, kind: 'Replica', plural: 'replicas' },
];

/** cloudnative-pg/cloudnative-pg, config/crd/bases/postgresql.cnpg.io_clusters.yaml at 00547d2. */
export const cloudNativePgKinds: readonly Kind[] = [
  { group: 'postgresql.cnpg.io', versions: ['v1'], kind: 'Cluster', plural: 'clusters', status: true },
];

/** kubevirt/kubevirt, pkg/virt-operator/resource/generate/components/crds.go at 0523d9b: instances have no status of their own. */
export const kubeVirtKinds: readonly Kind[] = [
  { ...kubeVirt, kind: 'VirtualMachineInstance', plural: 'virtualmachineinstances', status: false },
  { ...kubeVirt, kind: 'VirtualMachineInstanceMigration', plural: 'virtualmachineinstancemigrations', status: true },
];

/** Makes the API server serve these kinds. @returns when it does */
export async function installKinds(env: LabEnv, kinds: readonly Kind[]): Promise<void> {
  for (const kind of kinds) {
    await kube(env, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: definition(kind) });
  }
  for (const { group, versions, plural } of kinds) {
    await waitFor(`${plural}.${group} are served`, () => kubeGetOrNull(env, `/apis/${group}/${versions[0]}/${plural}`));
  }
}

/** An object of such a kind, with what its operator would say of it. */
export interface AddonObject {
  readonly namespace: string;
  readonly name: string;
  readonly spec: object;
  readonly status: object;
}

/** Creates an object, or changes the one of that name: what is not named stays. */
export async function putAddon(
  env: LabEnv,
  { group, versions, plural, status: apart, kind }: Kind,
  { namespace, name, spec, status }: AddonObject,
): Promise<void> {
  const apiVersion = `${group}/${versions[0]}`;
  const path = `/apis/${apiVersion}/namespaces/${namespace}/${plural}`;
  const body = { apiVersion, kind, metadata: { name }, spec, status };
  const patch = { body, contentType: 'application/merge-patch+json' };
  const there = await kubeGetOrNull(env, `${path}/${name}`);
  if (there === null) await kube(env, 'POST', path, { body });
  else await kube(env, 'PATCH', `${path}/${name}`, patch);
  if (apart) await kube(env, 'PATCH', `${path}/${name}/status`, patch);
}

function definition({ group, versions, kind, plural, status }: Kind): object {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: versions.map((name, index) => ({
        ...{ name, served: true, storage: index === 0, schema },
        subresources: status ? { status: {} } : {},
      })),
    },
  };
}
