import { releaseId } from '../../../src/workflows/release/messages.ts';
import { SOAK_SECONDS, TARGETS, type Stage } from './stage.ts';

/** What plays where, before the story begins. */
export function opening(stage: Stage): readonly string[] {
  const { lab } = stage;
  const [canary, ...rest] = TARGETS;
  return [
    '',
    `  Temporal UI  ${uiOf(stage)}`,
    `  Cluster      Kubernetes at ${lab.apiServer}, namespace ${stage.namespace}`,
    ...podsOf(stage),
    `  Release      release/${stage.release}: ${canary}, soak ${SOAK_SECONDS}s, approval, then ${rest.join(' and ')}`,
    `               (${stage.specFile})`,
    '',
    '  Times are seconds. "holdfast" is what it reports itself, "cluster" what the API server shows,',
    '  "check" what the demo makes sure of, there and in the status of the release.',
  ];
}

/** How to look at what `--keep` left running, and how to end it. */
export function lookAround(stage: Stage): readonly string[] {
  const { lab, namespace, release } = stage;
  return [
    '',
    'Everything stays up. Look around:',
    `  ${uiOf(stage)}`,
    `  export TEMPORAL_ADDRESS=${lab.temporalAddress} KUBECONFIG=${lab.kubeconfig}`,
    `  npm run -s holdfast -- status release/${release}`,
    `  npm run -s holdfast -- history release/${release}`,
    `  kubectl -n ${namespace} get deployments,pods`,
    'Take it down:',
    `  npm run -s lab -- down --dir ${lab.dir}`,
  ];
}

function podsOf({ lab }: Stage): string[] {
  if (lab.node !== null) return ['               Its pods really run, on one real node (kubelet, containerd).'];
  return [
    `               Its pods are fakes of kwok, since ${lab.nodeSkipReason ?? 'there is no real node'}:`,
    '               nothing runs in them, and the demo answers for their health.',
  ];
}

function uiOf({ lab, release }: Stage): string {
  return `${lab.temporalUi}/namespaces/default/workflows/${encodeURIComponent(releaseId(release))}`;
}
