import type { Visit } from './visit.ts';

/** Where the cordon of Holdfast is told from that of others, as an annotation of the node. */
export const cordonMark = 'holdfast.dev/cordoned-by';

/** When the visit began that last gave the node back, as an annotation: a cordon of it that comes late is refused. */
export const lastVisitMark = 'holdfast.dev/last-visit';

/** The namespace and the name of the lock in every cluster. */
export const lockName = { namespace: 'holdfast', name: 'node-reboot-lock' } as const;

/** Gives the lock back by hand. */
export const releaseLockByHand = `kubectl -n ${lockName.namespace} patch configmap ${lockName.name} --type=merge -p '{"data":null}'`;

/**
 * How a person goes on without Holdfast, line by line, at any phase of a visit: written into the lock with each phase, so
 * that it is there when nobody else is.
 */
export function handCommands(visit: Visit): readonly string[] {
  const { node, before } = visit;
  const uncordon = [
    ...(before?.unschedulable === true ? [] : [`kubectl uncordon ${node}`]),
    `kubectl annotate node ${node} ${cordonMark}-`,
  ];
  switch (visit.phase) {
    case 'Locking':
    case 'Gating':
      // The gates may be read anew for a cordon that was tried before.
      return before === null ? [releaseLockByHand] : [...uncordon, releaseLockByHand];
    case 'Settling':
    case 'Releasing':
    case 'Restored':
      return [releaseLockByHand];
    case 'Cordoning':
    case 'Moving':
    case 'Draining':
    case 'LastCheck':
    case 'Restoring':
      return [...uncordon, releaseLockByHand];
    case 'Rebooting':
    case 'Returning':
    case 'Checking':
    case 'Uncordoning':
      return [
        `kubectl get node ${node} -o jsonpath='{.status.nodeInfo.bootID} {.status.nodeInfo.kernelVersion}{"\\n"}'`,
        `# go on when this is another boot id than ${before?.bootId ?? 'before'}, the node is Ready and its kernel is right`,
        ...uncordon,
        releaseLockByHand,
      ];
  }
}
