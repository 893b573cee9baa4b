import { architectureGate } from './architectures.ts';
import { BY_SPEC } from './block-list.ts';
import { command, pinCommand } from './commands.ts';
import type { TargetObservation, WorkloadSnapshot } from './observation.ts';
import type { HeldReason } from './plan.ts';
import type { WantedImage } from './wanted-image.ts';

/** Why something is not rolled now, with the way out. */
export interface Hold {
  readonly reason: HeldReason;
  readonly message: string;
  /** Epoch milliseconds at which time alone may lift it; null where it does not. */
  readonly until: number | null;
}

/** A hold that time does not lift. */
export function hold(reason: HeldReason, message: string): Hold {
  return { reason, message, until: null };
}

/** What about the workload itself keeps any image from being rolled and proven on it. */
export function workloadHold(workload: WorkloadSnapshot): Hold | null {
  if (workload.strategy === 'OnDelete') {
    return hold(
      'OnDeleteStrategy',
      `the ${workload.kind} replaces pods only when somebody deletes them (OnDelete), so no rollout can be proven; use RollingUpdate`,
    );
  }
  if (workload.paused) {
    return hold(
      'WorkloadPaused',
      `the ${workload.kind} is paused, so nothing would roll; resume it (it is never unpaused from here)`,
    );
  }
  if (workload.replicas === 0) {
    return hold('ZeroReplicas', `the ${workload.kind} has zero replicas, so there is nothing to verify; scale it up`);
  }
  return null;
}

/** The blocklist and cooldowns; a pin bypasses both. */
export function blockHold(release: string, wanted: WantedImage): Hold | null {
  const { block, line } = wanted;
  if (block === null || line.allowsBlocked) return null;
  if (block.cooldownOnly) {
    return {
      reason: 'Cooldown',
      message: `${wanted.resolved.label} failed (${block.reason}) and is tried again at ${instant(block.cooldownUntil)}; ${command('retry', release)} tries it now`,
      until: block.cooldownUntil,
    };
  }
  const why = block.reason === '' ? '' : `: ${block.reason}`;
  const next = line.track?.tag === undefined ? 'until a newer tag is pushed' : `until ${line.track.tag} moves`;
  return hold(
    'Blocked',
    `${wanted.resolved.label} (${block.image}) is blocked by ${block.by}${why}; held ${next}; or ${unblocking(release, block)}, or ${pinCommand(release, wanted.resolved)}`,
  );
}

function unblocking(release: string, { image, by }: NonNullable<WantedImage['block']>): string {
  return by === BY_SPEC ? `remove it from ${BY_SPEC} and apply the spec` : command('unblock', release, image);
}

/** The architecture gate. Not measured is not passed. */
export function architectureHold(wanted: WantedImage, target: TargetObservation): Hold | null {
  const verdict = architectureGate(wanted.resolved, target.architectures);
  switch (verdict.kind) {
    case 'pass':
      return null;
    case 'fail':
      return hold('Architecture', verdict.message);
    case 'unmeasured':
      return hold(
        'ArchitectureUnknown',
        `which architectures the target's nodes have is not known: ${verdict.message}`,
      );
  }
}

/** An instant as people read it, in UTC to the second. */
export function instant(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}
