import { parseImageReference } from '../../domain/core/image-reference.ts';
import { releaseSpec, trackSchema, type Track } from '../../domain/release/spec.ts';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';

/** What is to be resolved. */
export interface Followed {
  readonly repository: string;
  /** `host` or `host:port` of its registry. */
  readonly host: string;
  readonly track: Track;
}

/**
 * Reads what the arguments of `resolve` follow, by the rules of a spec.
 *
 * @throws CliError saying what was expected
 */
export function parseFollowed(
  repository: string,
  options: {
    readonly track?: string | undefined;
    readonly line?: string | undefined;
    readonly prereleases?: true | undefined;
  },
): Followed {
  const { track: tag, line, prereleases = false } = options;
  if ((tag === undefined) === (line === undefined)) {
    throw new CliError(exitCodes.invalid, 'expected what is followed: either --track TAG or --line REGEX');
  }
  const reference = parseImageReference(repository);
  if (!releaseSpec.shape.image.safeParse(repository).success || !reference.ok) {
    throw new CliError(
      exitCodes.invalid,
      `"${repository}" is no image repository: expected one without tag or digest, such as registry.example.com/team/app`,
    );
  }
  const track = trackSchema.safeParse({ ...(tag === undefined ? { line } : { tag }), prereleases });
  if (!track.success) {
    const messages = track.error.issues.map((issue) => issue.message).join('; ');
    throw new CliError(exitCodes.invalid, `${tag === undefined ? '--line' : '--track'}: ${messages}`);
  }
  return { repository, host: reference.value.registry, track: track.data };
}
