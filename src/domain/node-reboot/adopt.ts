import { inPhase, type GivingUp, type Visit } from './visit.ts';

/**
 * A visit that an earlier run has left, from what the lock says of it. Before the reboot it is given back as it was found,
 * since its approval went with the run; from the reboot on only the boot decides.
 */
export function adopted(visit: Visit, now: number): Visit {
  const personNext = visit.personNext ?? 'an earlier run had left this node';
  const taken = { ...visit, personNext };
  const message = 'an earlier run had left this node before its reboot';
  const givingUp: GivingUp = { reason: 'Adopted', message, keepLock: false };
  switch (visit.phase) {
    case 'Locking':
    case 'Gating':
      return inPhase(taken, visit.before === null ? 'Releasing' : 'Restoring', now, { givingUp });
    case 'Cordoning':
    case 'Moving':
    case 'Draining':
    case 'LastCheck':
      return inPhase(taken, 'Restoring', now, { givingUp });
    case 'Rebooting':
      return inPhase(taken, 'Returning', now);
    case 'Uncordoning':
      return inPhase(taken, 'Checking', now);
    case 'Restored':
      // It is found to be given back already, and stops for the same reason: a person decides.
      return inPhase(taken, 'Restoring', now);
    case 'Returning':
    case 'Checking':
    case 'Settling':
    case 'Releasing':
    case 'Restoring':
      return inPhase(taken, visit.phase, now);
  }
}
