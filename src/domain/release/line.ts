import { targetName, type ReleaseSpec, type TargetSpec, type Track } from './spec.ts';

/** What a target follows: an image repository plus a track or a pin. */
export interface Line {
  /** Tells lines apart and is what people read: `ghcr.io/acme/app:v6-latest`, `ghcr.io/acme/app ^v5\.`. */
  readonly key: string;
  readonly repository: string;
  /** Null where a pin is wanted. */
  readonly track: Track | null;
  readonly pin: Pin | null;
  /** Who pinned; null on a track. */
  readonly pinnedBy: 'person' | 'spec' | 'target' | null;
  /** A pin is wanted on purpose: it bypasses blocklist, cooldown, minimum age and the major guard. */
  readonly allowsBlocked: boolean;
}

/** A pin in its parts; at least one of them is set. */
export interface Pin {
  readonly tag: string | null;
  readonly digest: string | null;
}

/**
 * The line a target follows.
 *
 * A target with an image, a track or a pin of its own is not on the default line: it takes its own pin, and neither
 * `spec.pin` nor a person's pin moves it.
 *
 * @param personPin a person's pin; outranks `spec.pin`
 * @throws RangeError where nothing says what the target follows, which a parsed spec never has
 */
export function lineFor(
  spec: Pick<ReleaseSpec, 'image' | 'track' | 'pin'>,
  target: TargetSpec,
  personPin: string | null,
): Line {
  const repository = target.image ?? spec.image;
  if (target.pin !== undefined) return pinnedLine(repository, target.pin, 'target');
  if (onDefaultLine(target)) {
    if (personPin !== null) return pinnedLine(repository, personPin, 'person');
    if (spec.pin !== undefined) return pinnedLine(repository, spec.pin, 'spec');
  }
  const track = target.track ?? spec.track;
  if (track === undefined) throw new RangeError(`target ${targetName(target)} follows nothing: no track and no pin`);
  return {
    key: trackKey(repository, track),
    repository,
    track,
    pin: null,
    pinnedBy: null,
    allowsBlocked: false,
  };
}

/** True where `spec.pin` and a person's pin move the target. */
export function onDefaultLine(target: Pick<TargetSpec, 'image' | 'track' | 'pin'>): boolean {
  return target.image === undefined && target.track === undefined && target.pin === undefined;
}

/** Every line that some target follows, once each, in the order of the targets. */
export function linesOf(spec: ReleaseSpec, personPin: string | null): readonly Line[] {
  const lines = new Map<string, Line>();
  for (const target of spec.targets) {
    const line = lineFor(spec, target, personPin);
    if (!lines.has(line.key)) lines.set(line.key, line);
  }
  return [...lines.values()];
}

/** A pin as written (`tag`, `sha256:…`, `@sha256:…` or `tag@sha256:…`) in its parts. */
export function parsePin(pin: string): Pin {
  const at = pin.search(/@?sha256:[a-f0-9]{64}$/);
  if (at === -1) return { tag: pin, digest: null };
  return { tag: at === 0 ? null : pin.slice(0, at), digest: pin.slice(at).replace('@', '') };
}

function pinnedLine(repository: string, text: string, pinnedBy: 'person' | 'spec' | 'target'): Line {
  const pin = parsePin(text);
  const tag = pin.tag === null ? '' : `:${pin.tag}`;
  const digest = pin.digest === null ? '' : `@${pin.digest}`;
  return { key: `${repository}${tag}${digest} (pin)`, repository, track: null, pin, pinnedBy, allowsBlocked: true };
}

function trackKey(repository: string, track: Track): string {
  if (track.tag !== undefined) return `${repository}:${track.tag}`;
  return `${repository} ${track.line ?? ''}${track.prereleases ? ' (with prereleases)' : ''}`;
}
