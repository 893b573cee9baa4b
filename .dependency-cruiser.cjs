/** The import rules of docs/architecture.md, proven at each check. */
module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'A cycle has no first file to read.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'domain-is-pure',
      comment:
        'Decisions know nothing of Temporal, Kubernetes or Node: they run in the workflow sandbox and in tests alike.',
      severity: 'error',
      from: { path: '^src/domain' },
      to: {
        path: [
          '^src/(activities|workflows|worker|starters)',
          'node_modules/(@temporalio|@kubernetes|undici|pino|commander)',
        ],
      },
    },
    {
      name: 'domain-imports-no-node',
      severity: 'error',
      from: { path: '^src/(domain|workflows)' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'workflows-see-activities-by-type-only',
      comment: 'A value import would pull the outside world into the sandbox.',
      severity: 'error',
      from: { path: '^src/workflows' },
      to: { path: '^src/(activities|worker|starters)', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'workflows-import-no-client',
      severity: 'error',
      from: { path: '^src/workflows' },
      to: { path: 'node_modules/(@temporalio/(client|worker|activity)|@kubernetes|undici)' },
    },
    {
      name: 'activities-import-domain-only',
      severity: 'error',
      from: { path: '^src/activities' },
      to: { path: '^src/(workflows|worker|starters)' },
    },
    {
      name: 'src-imports-no-test',
      severity: 'error',
      from: { path: '^src' },
      to: { path: '^(test|bench|scripts)' },
    },
    {
      name: 'nothing-imports-starters',
      severity: 'error',
      from: { path: '^src', pathNot: '^src/starters' },
      to: { path: '^src/starters' },
    },
    {
      name: 'keycloak-is-reached-through-its-client-alone',
      comment: 'Every request to Keycloak is screened first: client.ts does that, and nothing else may send one.',
      severity: 'error',
      from: { path: '^src', pathNot: '^src/activities/keycloak/client\\.ts$' },
      to: { path: '^src/activities/keycloak/exchange\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'keycloak-activities-open-no-connection',
      comment: 'Only exchange.ts has the means to send anything.',
      severity: 'error',
      from: { path: '^src/activities/keycloak/', pathNot: '^src/activities/keycloak/(exchange|client)\\.ts$' },
      to: { path: ['node_modules/(undici|@keycloak)', '^(node:)?(http|https|http2|net|tls|dgram|child_process)$'] },
    },
    {
      name: 'keycloak-client-sends-nothing-by-itself',
      severity: 'error',
      from: { path: '^src/activities/keycloak/client\\.ts$' },
      to: { path: 'node_modules/undici', dependencyTypesNot: ['type-only'] },
    },
    { name: 'not-to-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
