/** A pod as the API server gives it, in the terms that tests speak in. */
export interface PodTerms {
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
  readonly node?: string;
  readonly phase?: string;
  readonly ready?: boolean;
  readonly terminating?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owner?: { readonly kind: string; readonly uid?: string };
  readonly volumes?: readonly object[];
}

export function podObject(terms: PodTerms): object {
  const { namespace = 'shop', name, uid = name, node = 'node-1', phase = 'Running', ready = true } = terms;
  const { terminating = false, labels = {}, annotations = {}, owner, volumes = [] } = terms;
  return {
    metadata: {
      namespace,
      name,
      uid,
      labels,
      annotations,
      ...(terminating ? { deletionTimestamp: '2026-06-01T00:00:30Z' } : {}),
      ...(owner === undefined
        ? {}
        : { ownerReferences: [{ apiVersion: 'apps/v1', name: 'owner', uid: 'owner', controller: true, ...owner }] }),
    },
    spec: { nodeName: node, containers: [{ name: 'main', image: 'example.com/main' }], volumes },
    status: { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  };
}
