import type { TargetAddress } from './address.ts';

/**
 * The commands with which a person looks at a target that did not come back, and brings it back by hand. Exact for the
 * kind of its workload.
 *
 * @param image to go back to; null where none is recorded
 */
export function kubectlCommands(target: TargetAddress, image: string | null): readonly string[] {
  const [of, start] = [kubectlObject(target), kubectl(target)];
  return [
    `${start} rollout status ${of}`,
    `${start} describe ${of}`,
    `${start} get pods -o wide`,
    `${start} logs ${of} -c ${target.container} --previous`,
    ...(image === null ? [] : [`${start} set image ${of} ${target.container}=${image}`]),
  ];
}

/** The commands as the end of a message. */
export function lookAt(target: TargetAddress, image: string | null): string {
  const where = target.cluster === 'default' ? '' : ` (in cluster ${target.cluster})`;
  return `look at it${where}:\n${kubectlCommands(target, image)
    .map((command) => `  ${command}`)
    .join('\n')}`;
}

/** How a command of kubectl about a target begins. */
export function kubectl({ namespace }: TargetAddress): string {
  return `kubectl -n ${namespace}`;
}

/** The target's workload as kubectl names it. */
export function kubectlObject({ kind, workload }: TargetAddress): string {
  return `${kind.toLowerCase()}/${workload}`;
}
