import type { StoppedFor, Visit } from './visit.ts';

/** Where the cordon of Holdfast is told from that of others, as an annotation of the node. */
export const cordonMark = 'holdfast.dev/cordoned-by';

/** When the visit began that last gave the node back, as an annotation: a cordon of it that comes late is refused. */
export const lastVisitMark = 'holdfast.dev/last-visit';

/** The namespace and the name of the lock in every cluster. */
export const lockName = { namespace: 'holdfast', name: 'node-reboot-lock' } as const;

/** Shows how a person goes on. */
export const readLockByHand = `kubectl -n ${lockName.namespace} get configmap ${lockName.name} -o jsonpath='{.data.undo}{"\\n"}'`;

/** Gives the lock back by hand. */
export const releaseLockByHand = `kubectl -n ${lockName.namespace} patch configmap ${lockName.name} --type=merge -p '{"data":null}'`;

/** A visit, and the run whose turn it is, as the lock names it. */
export interface Turn {
  readonly run: string;
  readonly visit: Visit;
}

/**
 * How a person goes on without Holdfast, at any phase of a visit: written into the lock with each phase, so that it is there
 * when nobody else is. Line by line, and each but the last ends in `&&`: pasted as lines or as one line, they stop at the first
 * that fails. They may be read long after they were written: the first one fails where the lock is not of this turn any more.
 */
export function handCommands({ run, visit }: Turn): readonly string[] {
  return chained([stillHeld(run, visit.node), ...nodeCommands(visit), releaseLockByHand]);
}

/** The part of them that is about the node, where the lock is not ours to give back; empty where nothing is left to be done. */
export function handCommandsOfNode(visit: Visit): readonly string[] {
  return chained(nodeCommands(visit));
}

function chained(lines: readonly string[]): readonly string[] {
  return lines.map((line, index) => (index === lines.length - 1 ? line : `${line} &&`));
}

/**
 * The part of them that is about the node, as one line; empty where nothing is left to be done to it. For whoever has said that
 * the node is theirs: it does not ask whether it may work although it failed.
 */
export function nodeCommand(visit: Visit): string {
  return handCommandsOfNode({ ...visit, stoppedFor: null }).join(' ');
}

function nodeCommands({ node, before, phase, stoppedFor }: Visit): readonly string[] {
  const giveBack = [
    ...(stoppedFor === null ? [] : [asItIs(node, stoppedFor)]),
    ...(before?.unschedulable === true ? [] : [`kubectl uncordon ${node}`]),
    `kubectl annotate node ${node} ${cordonMark}-`,
  ];
  switch (phase) {
    case 'Locking':
    case 'Gating':
      // The gates may be read anew for a cordon that was tried before.
      return before === null ? [] : giveBack;
    case 'Settling':
    case 'Releasing':
    case 'Restored':
      return [];
    case 'Cordoning':
    case 'Moving':
    case 'Draining':
    case 'LastCheck':
    case 'Restoring':
      return giveBack;
    case 'Rebooting':
    case 'Returning':
    case 'Checking':
    case 'Uncordoning':
      return [anotherBoot(node, before?.bootId ?? ''), `kubectl wait --for=condition=Ready node/${node}`, ...giveBack];
  }
}

/** Fails, and says so, where somebody has released the lock, or another turn has it. */
function stillHeld(run: string, node: string): string {
  const current = `kubectl -n ${lockName.namespace} get configmap ${lockName.name} -o jsonpath='{.data.run}/{.data.node}'`;
  const other = `the lock is not of this turn of node ${node} any more: it says itself whose it is`;
  return `{ ${current} | grep -qxF ${quoted(`${run}/${node}`)} || ! echo '${other}' ; }`;
}

/** Fails, and says so, as long as the node runs the boot that was to end, and where nobody answers. */
function anotherBoot(node: string, bootId: string): string {
  const current = `kubectl get node ${node} -o jsonpath='{.status.nodeInfo.bootID}'`;
  return `{ ${current} | grep -vqxF ${quoted(bootId)} || ! echo 'node ${node} was not seen with another boot' ; }`;
}

/** Fails, and says why it stopped, until the person has said that this node may work as it is. */
function asItIs(node: string, { reason, message }: StoppedFor): string {
  const why = `node ${node} stays cordoned, ${reason}: ${message}`.replaceAll(/\s+/g, ' ').slice(0, 500);
  const then = `Mend it. Then, or where it may work as it is: AS_IT_IS=${node}, and these lines again`;
  return `{ [ "$AS_IT_IS" = ${node} ] || ! echo ${quoted(`${why}. ${then}`)} ; }`;
}

/** One word of a shell, whatever it holds: it comes from a node. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
