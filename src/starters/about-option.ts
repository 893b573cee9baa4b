import { CliError } from './cli-error.ts';
import { exitCodes } from './exit-codes.ts';
import { formatObjectName, type ObjectName } from './object-name.ts';

/** What a decision is about, as its options name it. */
export interface About {
  readonly plan?: string | undefined;
  readonly digest?: string | undefined;
  readonly target?: string | undefined;
}

/**
 * The parts that name what a decision is about: what a person saw and what is carried out are then the same.
 *
 * @throws CliError where nothing is named
 */
export function requireAbout(object: ObjectName, { plan, digest, target }: About): About {
  if (plan !== undefined || digest !== undefined || target !== undefined) return { plan, digest, target };
  throw new CliError(
    exitCodes.invalid,
    `expected what this is about: --plan HASH, --digest DIGEST or --target NAME, as shown by: holdfast status ${formatObjectName(object)}`,
  );
}
