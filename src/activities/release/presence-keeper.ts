import type { Reading } from '../../domain/core/verdict.ts';
import type { ImagePresence } from '../../domain/release/judge-rollout.ts';
import type { RegistryPort } from '../registry/port.ts';
import { askPresence } from './image-presence.ts';
import type { Pulse } from '../pulse.ts';

/** Asks the registry for an image beside the watching, once it matters. */
export interface PresenceKeeper {
  /** Asks, unless that is under way, was answered, or failed a moment ago. */
  ask(): void;
  known(): Reading<ImagePresence> | null;
}

const TIMEOUT_MS = 2_000;
const AGAIN_MS = 5_000;

export function createPresenceKeeper(registry: RegistryPort, image: string, pulse: Pulse): PresenceKeeper {
  let answer: Reading<ImagePresence> | null = null;
  let asking = false;
  let notBefore = 0;

  return {
    known: () => answer,
    ask() {
      if (asking || answer?.kind === 'read' || Date.now() < notBefore) return;
      asking = true;
      void askPresence(registry, image, TIMEOUT_MS).then((found) => {
        asking = false;
        answer = found;
        notBefore = Date.now() + AGAIN_MS;
        pulse.happened();
      });
    },
  };
}
