import { pinCommand } from './commands.ts';
import { own } from '../core/own.ts';
import { imageParts } from './deployed-image.ts';
import { hold, type Hold } from './hold.ts';
import type { Observation } from './observation.ts';
import type { WantedImage } from './wanted-image.ts';
import { majorOf, parseVersion, versionOf } from './version.ts';

const ALLOW = 'set allowMajorChange: true on the target and apply the spec';

/**
 * The major guard and, on a semver line, the guard against going back. Both compare with the image that was applied
 * (or, before anything was, with what was found), never with what somebody swapped in.
 *
 * @param from the applied image
 * @param fromVersion its version, see `versionOfImage`
 * @returns null where nothing is against it; a pin bypasses both, `allowMajorChange` the first
 */
export function versionHold(
  release: string,
  wanted: WantedImage,
  from: string,
  fromVersion: string | null,
  allowMajorChange: boolean,
): Hold | null {
  if (wanted.line.pin !== null) return null;
  const toVersion = wanted.resolved.version ?? versionOf(wanted.resolved.tag, null);
  const onLine = wanted.line.track?.line !== undefined;
  if (!allowMajorChange) {
    const against = majorHold(release, wanted, from, fromVersion, toVersion);
    if (against !== null) return against;
  }
  return onLine ? downgradeHold(release, wanted, from, fromVersion, toVersion) : null;
}

/**
 * The version of an image that runs or was applied: from the image itself where its facts could be read, else from the
 * tag in the reference. Null where neither tells.
 */
export function versionOfImage(reference: string, images: Observation['images']): string | null {
  const facts = own(images, reference);
  const measured = facts?.kind === 'read' ? facts.value.version : null;
  return measured ?? versionOf(imageParts(reference).tag, null);
}

function majorHold(
  release: string,
  wanted: WantedImage,
  from: string,
  fromVersion: string | null,
  toVersion: string | null,
): Hold | null {
  if (fromVersion === null || toVersion === null) {
    const untold = fromVersion === null ? from : wanted.resolved.label;
    return unknownVersion(
      untold,
      'a major change cannot be ruled out',
      `${ALLOW}, or ${pinCommand(release, wanted.resolved)}`,
    );
  }
  const [before, after] = [majorOf(fromVersion), majorOf(toVersion)];
  if (before === after) return null;
  return hold(
    'MajorChange',
    `${named(wanted.resolved.label, toVersion)} is major ${after}, the target was last given major ${before} (${from}); ${ALLOW}, or ${pinCommand(release, wanted.resolved)}`,
  );
}

function downgradeHold(
  release: string,
  wanted: WantedImage,
  from: string,
  fromVersion: string | null,
  toVersion: string | null,
): Hold | null {
  const before = parseVersion(fromVersion ?? '');
  const after = parseVersion(toVersion ?? '');
  if (before === null || after === null) {
    const untold = before === null ? from : wanted.resolved.label;
    return unknownVersion(
      untold,
      'going back to an older version cannot be ruled out',
      pinCommand(release, wanted.resolved),
    );
  }
  if (before.compare(after) <= 0) return null;
  return hold(
    'Downgrade',
    `the target is ahead: ${from} (${before.version}) is newer than ${wanted.resolved.label}, the newest of ${wanted.line.key}; ${pinCommand(release, wanted.resolved)} goes back on purpose`,
  );
}

function unknownVersion(image: string, so: string, wayOut: string): Hold {
  return hold(
    'UnknownVersion',
    `neither tag nor labels of ${image} tell its version, so ${so}; give images the label org.opencontainers.image.version, or ${wayOut}`,
  );
}

/** An image with its version, which is not said twice where people call the image by it. */
function named(label: string, version: string): string {
  return parseVersion(label)?.version === version ? label : `${label} (${version})`;
}
