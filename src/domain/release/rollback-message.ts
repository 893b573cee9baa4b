import type { TargetAddress } from './address.ts';

/**
 * The commands with which a person looks at a target that did not come back, and brings it back by hand. Exact for the
 * kind of its workload.
 *
 * @param image to go back to; null where none is recorded
 */
export function kubectlCommands(target: TargetAddress, image: string | null): readonly string[] {
  const of = `${target.kind.toLowerCase()}/${target.workload}`;
  const kubectl = `kubectl -n ${target.namespace}`;
  return [
    `${kubectl} rollout status ${of}`,
    `${kubectl} describe ${of}`,
    `${kubectl} get pods -o wide`,
    `${kubectl} logs ${of} -c ${target.container} --previous`,
    ...(image === null ? [] : [`${kubectl} set image ${of} ${target.container}=${image}`]),
  ];
}

/** The commands as the end of a message. */
export function lookAt(target: TargetAddress, image: string | null): string {
  const where = target.cluster === 'default' ? '' : ` (in cluster ${target.cluster})`;
  return `look at it${where}:\n${kubectlCommands(target, image)
    .map((command) => `  ${command}`)
    .join('\n')}`;
}
