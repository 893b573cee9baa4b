import { exitCodes } from './exit-codes.ts';
import { note } from './output/print.ts';

/**
 * Says how things stand at a Ctrl-C, and ends the process.
 *
 * @param words made at that moment
 * @returns what takes it back, once there is more to wait for or nothing
 */
export function sayOnInterrupt(words: () => string): () => void {
  const leave = () => {
    note(words());
    process.exit(exitCodes.interrupted);
  };
  process.once('SIGINT', leave);
  return () => process.removeListener('SIGINT', leave);
}

/**
 * A signal that aborts at the first Ctrl-C or SIGTERM. The second one ends the process as it would by itself, so that
 * nobody is held up by a tidy end that does not come.
 */
export function untilInterrupted(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => controller.abort());
  }
  return controller.signal;
}
