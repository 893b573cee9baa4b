import type { NodeRebootStatus } from '../../domain/node-reboot/status.ts';

/**
 * What has changed between two looks at a NodeReboot, a sentence each: whose turn it is and how far, what became of nodes,
 * gates, what stops it, and what people did.
 *
 * @param before null for the first look
 */
export function describeRebootChanges(before: NodeRebootStatus | null, after: NodeRebootStatus): readonly string[] {
  return [
    ...ofTurn(before, after),
    ...ofNodes(before, after),
    ...ofGates(before, after),
    ...ofStop(before, after),
    ...ofMode(before, after),
    ...ofWaiting(before, after),
  ];
}

function ofTurn(before: NodeRebootStatus | null, { turn, phase }: NodeRebootStatus): string[] {
  if (turn === null || phase === 'Stopped') return [];
  if (before?.turn?.node === turn.node && before.phase === phase) return [];
  return [`node ${turn.node}: ${phase}`];
}

function ofNodes(before: NodeRebootStatus | null, after: NodeRebootStatus): string[] {
  if (before === null) return [];
  return after.nodes.flatMap(({ node, reboot, packages, kernel }) => {
    const was = before.nodes.find((other) => other.node === node)?.reboot;
    if (was === undefined || was === reboot) return [];
    if (reboot === 'done') return [`node ${node}: rebooted, kernel ${kernel ?? 'not known'}`];
    return reboot === 'wanted' && was === 'none' ? [`node ${node}: wants a reboot (${packages.join(', ')})`] : [];
  });
}

function ofGates(before: NodeRebootStatus | null, after: NodeRebootStatus): string[] {
  const changed = after.gates.filter(({ gate, verdict, message }) => {
    const was = before?.gates.find((other) => other.gate === gate);
    return verdict !== 'pass' && (was?.verdict !== verdict || was.message !== message);
  });
  return changed.map(({ gate, verdict, reason, message }) => `gate ${gate}: ${verdict} (${reason ?? ''}), ${message}`);
}

function ofStop(before: NodeRebootStatus | null, { stopped }: NodeRebootStatus): string[] {
  if (stopped === null || before?.stopped?.since === stopped.since) return [];
  return [`stopped: ${stopped.reason}: ${stopped.message}`];
}

function ofMode(before: NodeRebootStatus | null, { effectiveMode, modeReason }: NodeRebootStatus): string[] {
  if (before === null || before.effectiveMode === effectiveMode) return [];
  return [`mode ${effectiveMode}, was ${before.effectiveMode}${modeReason === null ? '' : `: ${modeReason}`}`];
}

/** Only what a person can lift. */
function ofWaiting(before: NodeRebootStatus | null, { waiting }: NodeRebootStatus): string[] {
  if (waiting?.who !== 'person' || waiting.reason === 'NoNodeWantsOne') return [];
  return before?.waiting?.for === waiting.for ? [] : [`waits for a person; next: ${waiting.next}`];
}
