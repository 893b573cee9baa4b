import type { SemVer } from 'semver';
import type { Track } from './spec.ts';
import { parseVersion } from './version.ts';

/** Which tag of a line won, and why the nearest others lost. */
export interface TagSelection {
  /** Null where no tag of the line may be taken. */
  readonly tag: string | null;
  readonly rejected: readonly RejectedTag[];
}

export interface RejectedTag {
  readonly tag: string;
  readonly reason: string;
}

/** How many of the tags that lost are told. */
const REJECTED_SHOWN = 10;

/** Characters of a tag that a line is asked about. */
const LONGEST_TAG = 64;
/** More digits in a row than any version has; `20261130123456.10.100` fits. */
const LONG_ROW = /[\d.]{25}/;

interface Entry {
  readonly tag: string;
  readonly version: SemVer | null;
  readonly onLine: boolean;
  /** Why it may not be taken at all; null where it may. */
  readonly reason: string | null;
}

/**
 * The newest tag of a semver line: the greatest by semver that matches the line's regular expression and is no
 * prerelease (unless the track lets prereleases win).
 *
 * Order is semver's, which compares an identifier with a letter in it as text: `1.0.1-rc.9 < 1.0.1-rc.10`, but
 * `1.0.1-rc10 < 1.0.1-rc9`. Write `rc.10`.
 *
 * @param tags every tag of the repository, in any order; a listing that was cut short must not come here
 * @param track a track with a `line`
 * @returns the winner, and the nearest ten that lost: first those that the line matches but that may not be taken
 * @throws TypeError for a track that follows a moving tag
 */
export function selectTag(tags: readonly string[], track: Pick<Track, 'line' | 'prereleases'>): TagSelection {
  if (track.line === undefined) throw new TypeError('expected a track with a line');
  const line = new RegExp(track.line);
  const entries = [...new Set(tags)].map((tag) => judge(tag, line, track.prereleases)).sort(nearestFirst);
  const winner = entries.find((entry) => entry.reason === null);
  return {
    tag: winner?.tag ?? null,
    rejected: entries
      .filter((entry) => entry !== winner)
      .slice(0, REJECTED_SHOWN)
      .map((entry) => ({ tag: entry.tag, reason: entry.reason ?? losesTo(winner ?? entry, entry) })),
  };
}

function judge(tag: string, line: RegExp, prereleases: boolean): Entry {
  const version = parseVersion(tag);
  if (isTooLong(tag)) return { tag, version, onLine: false, reason: 'is too long for a version' };
  const onLine = line.test(tag);
  if (!onLine) return { tag, version, onLine, reason: `does not match ${line.source}` };
  if (version === null) return { tag, version, onLine, reason: 'is not a semantic version' };
  if (version.prerelease.length > 0 && !prereleases) {
    return { tag, version, onLine, reason: 'is a prerelease; set prereleases: true to let it win' };
  }
  return { tag, version, onLine, reason: null };
}

/**
 * Whoever pushes tags must not choose how long an expression takes: `^v?(\d+\.?)+$` takes twice as long with each
 * further digit.
 */
function isTooLong(tag: string): boolean {
  return tag.length > LONGEST_TAG || LONG_ROW.test(tag);
}

/** Both may be taken, so both are versions. */
function losesTo(winner: Entry, loser: Entry): string {
  const same = winner.version?.version === loser.version?.version;
  return `${same ? 'is the same version as' : 'is older than'} ${winner.tag}`;
}

function nearestFirst(a: Entry, b: Entry): number {
  const byRank = rank(a) - rank(b);
  if (byRank !== 0) return byRank;
  const byVersion = a.version && b.version ? b.version.compare(a.version) : 0;
  if (byVersion !== 0) return byVersion;
  return a.tag < b.tag ? 1 : -1;
}

function rank(entry: Entry): number {
  if (!entry.onLine) return entry.version === null ? 3 : 2;
  return entry.reason === null ? 1 : 0;
}
