import type { Notification } from '../domain/core/notification.ts';
import { tell } from './shared-activities.ts';

/** Tells people, without anything waiting for it. */
export interface Telling {
  notify(said: Notification): void;
  /** True where nobody is being told just now. */
  isQuiet(): boolean;
}

/** One for each workflow: what it tells must be told before it ends or continues as new. */
export function createTelling(): Telling {
  let untold = 0;
  return {
    notify(said) {
      untold += 1;
      void tell.notify
        .executeWithOptions({ summary: `tell: ${said.what}` }, [said])
        .catch(() => undefined)
        .finally(() => {
          untold -= 1;
        });
    },
    isQuiet: () => untold === 0,
  };
}
