import { kube, KubeApiError } from '../kube-api.ts';
import type { LabEnv } from '../lab.ts';
import { waitFor } from '../wait.ts';

const NAME = 'machine-guard.lab.holdfast.dev';
const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';

/**
 * Keeps pods that could reboot the machine off the real node `real-1`, whose first process is the machine's: such a pod must
 * say that it goes elsewhere, by its node's name, by the label `type` of the kwok and the reboot nodes, or as a DaemonSet's.
 *
 * @returns when the API server refuses one
 */
export async function guardMachine(env: Pick<LabEnv, 'apiServer' | 'caFile' | 'adminToken'>): Promise<void> {
  await kube(env, 'POST', `${REGISTRATION}/validatingadmissionpolicies`, { body: policy() });
  await kube(env, 'POST', `${REGISTRATION}/validatingadmissionpolicybindings`, {
    body: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: NAME },
      spec: { policyName: NAME, validationActions: ['Deny'] },
    },
  });
  const path = '/api/v1/namespaces/default/pods?dryRun=All';
  await waitFor('pods that could reboot the machine are refused', async () => {
    try {
      await kube(env, 'POST', path, { body: trial() });
      return false;
    } catch (error) {
      if (error instanceof KubeApiError && error.message.includes(NAME)) return true;
      throw error;
    }
  });
}

function policy(): object {
  const containers = ['containers', 'initContainers', 'ephemeralContainers'].map(
    (field) => `object.spec.?${field}.orValue([])`,
  );
  const privileged = `(${containers.join(' + ')}).exists(c, c.?securityContext.?privileged.orValue(false))`;
  const terms =
    'object.spec.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution.?nodeSelectorTerms.orValue([])';
  const isElsewhere = "f.key == 'metadata.name' && f.operator == 'In' && !('real-1' in f.values)";
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: NAME },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['pods', 'pods/ephemeralcontainers'],
          },
        ],
      },
      variables: [
        { name: 'reachesMachine', expression: `object.spec.?hostPID.orValue(false) || ${privileged}` },
        {
          name: 'goesElsewhere',
          expression: [
            "object.spec.?nodeName.orValue('real-1') != 'real-1'",
            "object.spec.?nodeSelector[?'type'].orValue('') in ['kwok', 'reboot']",
            `(size(${terms}) > 0 && ${terms}.all(t, t.?matchFields.orValue([]).exists(f, ${isElsewhere})))`,
          ].join(' || '),
        },
      ],
      validations: [
        {
          expression: '!variables.reachesMachine || variables.goesElsewhere',
          message:
            'a pod that is privileged or sees all processes could reboot the machine: name a node other than real-1',
        },
      ],
    },
  };
}

function trial(): object {
  const containers = [{ name: 'trial', image: 'example.invalid/trial:1' }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { generateName: 'machine-guard-' },
    spec: { hostPID: true, containers },
  };
}
