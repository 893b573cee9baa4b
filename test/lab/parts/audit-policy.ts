/**
 * What the API server's audit log holds. Tests prove from it what was written, by whom and how often, and how many requests
 * an idle release costs; so what the cluster's own components read is left out, and secrets never appear with a body.
 */
export function auditPolicy(): object {
  const components = ['system:kube-scheduler', 'system:kube-controller-manager', 'system:apiserver', 'kwok'];
  const componentGroups = ['system:nodes', 'system:serviceaccounts:kube-system'];
  const reads = ['get', 'list', 'watch'];
  const writes = ['create', 'update', 'patch', 'delete', 'deletecollection'];
  const workloads = [
    { group: 'apps', resources: ['deployments', 'statefulsets', 'daemonsets'] },
    { group: 'batch', resources: ['jobs', 'cronjobs'] },
  ];
  return {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [
      { level: 'None', users: components, verbs: reads },
      { level: 'None', userGroups: componentGroups, verbs: reads },
      // Health probes, by whoever waits for the server.
      { level: 'None', nonResourceURLs: ['/readyz*', '/healthz*', '/livez*'] },
      {
        level: 'None',
        resources: [{ group: 'coordination.k8s.io', resources: ['leases'] }],
        userGroups: componentGroups,
      },
      { level: 'None', resources: [{ group: 'coordination.k8s.io', resources: ['leases'] }], users: components },
      { level: 'Metadata', userGroups: componentGroups },
      { level: 'Metadata', users: components },
      { level: 'RequestResponse', verbs: writes, resources: workloads },
      {
        level: 'Request',
        verbs: writes,
        resources: [{ group: '', resources: ['pods', 'nodes', 'configmaps', 'events'] }],
      },
      { level: 'Metadata' },
    ],
  };
}
