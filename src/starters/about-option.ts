import { CliError } from './cli-error.ts';
import { exitCodes } from './exit-codes.ts';
import { formatObjectName, type ObjectName } from './object-name.ts';

/** What a decision is about, as its options name it. */
export interface About {
  readonly plan?: string | undefined;
  readonly digest?: string | undefined;
  readonly target?: string | undefined;
  readonly candidate?: string | undefined;
  readonly node?: string | undefined;
}

/**
 * The parts that name what a decision is about: what a person saw and what is carried out are then the same.
 *
 * @throws CliError where nothing is named
 */
export function requireAbout(object: ObjectName, { plan, digest, target, candidate, node }: About): About {
  if (object.kind === 'NodeReboot') return requireNode(object, { plan, digest, target, candidate, node });
  if (node !== undefined) throw notOf(object, '--node');
  if (object.kind === 'KeycloakFlow') return requireCandidate(object, { plan, digest, target, candidate });
  if (candidate !== undefined) throw notOf(object, '--candidate');
  if (plan !== undefined || digest !== undefined || target !== undefined) return { plan, digest, target };
  throw new CliError(
    exitCodes.invalid,
    `expected what this is about: --plan HASH, --digest DIGEST or --target NAME, as shown by: holdfast status ${formatObjectName(object)}`,
  );
}

/** A candidate is named twice: by its name, which people read, and by the hash, which covers what they saw of it. */
function requireCandidate(object: ObjectName, { plan, digest, target, candidate }: About): About {
  if (digest !== undefined) throw notOf(object, '--digest');
  if (target !== undefined) throw notOf(object, '--target');
  if (plan !== undefined && candidate !== undefined) return { plan, candidate };
  throw new CliError(
    exitCodes.invalid,
    `expected what this is about: --candidate NAME and --plan HASH, as shown by: holdfast status ${formatObjectName(object)}`,
  );
}

/** A node is named twice: by its name, which people read, and by the hash of what they saw offered of it. */
function requireNode(object: ObjectName, { plan, digest, target, candidate, node }: About): About {
  if (digest !== undefined) throw notOf(object, '--digest');
  if (target !== undefined) throw notOf(object, '--target');
  if (candidate !== undefined) throw notOf(object, '--candidate');
  if (plan !== undefined && node !== undefined) return { plan, node };
  throw new CliError(
    exitCodes.invalid,
    `expected what this is about: --node NODE and --plan HASH, as shown by: holdfast status ${formatObjectName(object)}`,
  );
}

function notOf(object: ObjectName, option: string): CliError {
  return new CliError(exitCodes.invalid, `${option} is nothing that a ${object.kind} has`);
}
