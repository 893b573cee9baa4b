import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Temporal } from './connect.ts';
import { explainError } from './explain-error.ts';

/** A worker or server that restarts is waited for this long before a look counts as not to be had. */
const PATIENCE_MS = 5 * 60_000;

/**
 * A way to look again and again that outlives restarts of worker and server.
 *
 * @param say hears, once, why a look was not to be had
 * @returns looks once: null where it was not to be had now; throws a CliError, undetermined, after five minutes of that
 */
export function patiently(
  temporal: Temporal,
  say: (line: string) => void,
): <T>(look: () => Promise<T>) => Promise<T | null> {
  let silentSince: number | null = null;
  return async (look) => {
    try {
      const seen = await look();
      silentSince = null;
      return seen;
    } catch (error) {
      const explained = explainError(error, temporal);
      if (!(explained instanceof CliError) || explained.exitCode !== exitCodes.undetermined) throw explained;
      if (silentSince === null) say(`no answer yet: ${explained.message}`);
      silentSince ??= Date.now();
      if (Date.now() - silentSince > PATIENCE_MS) throw explained;
      return null;
    }
  };
}
