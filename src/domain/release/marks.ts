import { clipped } from '../core/clipped.ts';
import { z } from 'zod';
import { read, unmeasured, type Reading } from '../core/verdict.ts';
import type { BlockMark, Marks, Placement } from './observation.ts';
import type { MarksPatch } from './rollout.ts';

/**
 * Names of the annotations on a target's workload. They are on the object, never on its pod template, so writing them
 * restarts nothing.
 */
export const annotationNames = {
  managedBy: 'holdfast.dev/managed-by',
  applied: 'holdfast.dev/applied',
  version: 'holdfast.dev/version',
  previousImage: 'holdfast.dev/previous-image',
  previousVersion: 'holdfast.dev/previous-version',
  upgradedAt: 'holdfast.dev/upgraded-at',
  passed: 'holdfast.dev/passed',
  rolledBackFrom: 'holdfast.dev/rolled-back-from',
  rolledBackAt: 'holdfast.dev/rolled-back-at',
  /** JSON: digests and labels that failed here or were blocked, each with the end of its cooldown. */
  blocked: 'holdfast.dev/blocked',
  /** JSON: where the agents ran before the change. */
  placements: 'holdfast.dev/placements',
} as const satisfies Record<keyof Marks, string>;

/** Marks of an object that no release has written to. */
export const noMarks: Marks = {
  managedBy: null,
  applied: null,
  version: null,
  previousImage: null,
  previousVersion: null,
  upgradedAt: null,
  passed: null,
  rolledBackFrom: null,
  rolledBackAt: null,
  blocked: [],
  placements: null,
};

/** Value of `managed-by` for a release. */
export function managedByOf(release: string): string {
  return `release/${release}`;
}

/** True for an object that another release manages: nothing of it is ours to judge or to remember. */
export function isOfOtherRelease({ managedBy }: Pick<Marks, 'managedBy'>, release: string): boolean {
  return managedBy !== null && managedBy !== managedByOf(release);
}

/** Longest reason that is kept in an annotation; all annotations of an object share 256 KiB. */
const REASON_LENGTH = 200;

const texts = [
  'managedBy',
  'applied',
  'version',
  'previousImage',
  'previousVersion',
  'upgradedAt',
  'passed',
  'rolledBackFrom',
  'rolledBackAt',
] as const satisfies readonly (keyof Marks)[];

const instant = z.string().refine((text) => !Number.isNaN(Date.parse(text)), 'expected an instant');

const blockMarks = z.array(
  z.object({
    image: z.string().min(1),
    at: instant,
    reason: z.string(),
    cooldownUntil: instant.optional(),
    cooldownOnly: z.literal(true).optional(),
  }),
);

const placements = z.array(
  z.object({
    name: z.string().min(1),
    backend: z.string(),
    model: z.string(),
    effort: z.string(),
    paused: z.boolean(),
  }),
);

/**
 * The marks on an object.
 *
 * @param annotations of the workload itself, not of its pod template; undefined where it has none
 * @param object such as `Deployment shop/web`, for messages
 * @returns unmeasured with cause `unparsed` where an annotation of ours cannot be understood: a block that cannot be
 *   read must hold everything, since taking it for none would roll a bad digest again
 */
export function parseMarks(annotations: Readonly<Record<string, string>> | undefined, object: string): Reading<Marks> {
  const found = annotations ?? {};
  const marks: { -readonly [K in keyof Marks]: Marks[K] } = { ...noMarks };
  for (const key of texts) marks[key] = text(found[annotationNames[key]]);

  const blocked = json(found[annotationNames.blocked], blockMarks);
  if (!blocked.ok) return notUnderstood(object, annotationNames.blocked, blocked.message);
  marks.blocked = (blocked.value ?? []).map(blockMark);

  const where = json(found[annotationNames.placements], placements);
  if (!where.ok) return notUnderstood(object, annotationNames.placements, where.message);
  marks.placements = where.value;
  return read(marks);
}

/**
 * The annotations that a patch of marks sets (text) and removes (null); what it does not name is left as it is.
 * Blocks are merged by image with those already there: of two for one image the new one counts, and the later end of
 * their cooldowns.
 *
 * @param current the marks as just read from the object
 */
export function marksPatchToAnnotations(current: Marks, patch: MarksPatch): Record<string, string | null> {
  const annotations: Record<string, string | null> = {};
  for (const key of texts) {
    const value = patch[key];
    if (value !== undefined) annotations[annotationNames[key]] = value;
  }
  if (patch.placements !== undefined) {
    annotations[annotationNames.placements] = patch.placements === null ? null : placementsJson(patch.placements);
  }
  if (patch.block !== undefined || patch.unblock !== undefined) {
    const blocked = mergeBlocks(current.blocked, patch.block ?? [], patch.unblock ?? []);
    annotations[annotationNames.blocked] = blocked.length === 0 ? null : JSON.stringify(blocked.map(blockMark));
  }
  return annotations;
}

/**
 * The marks as they are once a patch is in effect: what reading the object back must give.
 *
 * @param current the marks before the patch
 */
export function applyMarksPatch(current: Marks, patch: MarksPatch): Marks {
  const after: { -readonly [K in keyof Marks]: Marks[K] } = { ...current };
  for (const key of texts) {
    const value = patch[key];
    if (value !== undefined) after[key] = text(value);
  }
  if (patch.placements !== undefined) after.placements = patch.placements;
  if (patch.block !== undefined || patch.unblock !== undefined) {
    after.blocked = mergeBlocks(current.blocked, patch.block ?? [], patch.unblock ?? []).map(blockMark);
  }
  return after;
}

function mergeBlocks(
  current: readonly BlockMark[],
  block: readonly BlockMark[],
  unblock: readonly string[],
): BlockMark[] {
  const byImage = new Map<string, BlockMark>();
  for (const mark of current) if (!unblock.includes(mark.image)) byImage.set(mark.image, mark);
  for (const mark of block) byImage.set(mark.image, laterCooldown(mark, byImage.get(mark.image)));
  return [...byImage.values()];
}

function laterCooldown(mark: BlockMark, before: BlockMark | undefined): BlockMark {
  const ends = [mark.cooldownUntil, before?.cooldownUntil]
    .filter((end) => end !== undefined)
    .sort((a, b) => Date.parse(b) - Date.parse(a));
  return ends[0] === undefined ? mark : { ...mark, cooldownUntil: ends[0] };
}

/** One mark in the order that is written, with a reason that fits. */
function blockMark(mark: {
  readonly image: string;
  readonly at: string;
  readonly reason: string;
  readonly cooldownUntil?: string | undefined;
  readonly cooldownOnly?: true | undefined;
}): BlockMark {
  return {
    image: mark.image,
    at: mark.at,
    reason: clipped(mark.reason, REASON_LENGTH),
    ...(mark.cooldownUntil === undefined ? {} : { cooldownUntil: mark.cooldownUntil }),
    ...(mark.cooldownOnly === undefined ? {} : { cooldownOnly: mark.cooldownOnly }),
  };
}

function placementsJson(where: readonly Placement[]): string {
  return JSON.stringify(
    where.map(({ name, backend, model, effort, paused }) => ({ name, backend, model, effort, paused })),
  );
}

function text(value: string | null | undefined): string | null {
  return value === undefined || value === '' ? null : value;
}

type Parsed<T> = { readonly ok: true; readonly value: T | null } | { readonly ok: false; readonly message: string };

function json<T>(source: string | undefined, schema: z.ZodType<T>): Parsed<T> {
  if (source === undefined || source === '') return { ok: true, value: null };
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    return { ok: false, message: 'it is not JSON' };
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data };
  const [issue] = parsed.error.issues;
  return { ok: false, message: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not as written by Holdfast'}` };
}

function notUnderstood(object: string, annotation: string, why: string): Reading<Marks> {
  return unmeasured(
    `annotation ${annotation} of ${object}`,
    'API server',
    'unparsed',
    `annotation ${annotation} of ${object} cannot be read: ${why}; correct it, or remove it if nothing in it is to be kept`,
  );
}
