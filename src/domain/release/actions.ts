import { z } from 'zod';
import { readActionPayload } from '../core/action-payload.ts';
import { asker as who } from '../core/asker.ts';
import { modeSchema } from '../core/mode.ts';
import { formatDuration } from '../core/duration.ts';
import { digestNamePattern } from '../core/image-reference.ts';
import { planHashPattern } from '../core/plan-hash.ts';
import { blockSchema, pinSchema, releaseSpec, type ReleaseSpec } from './spec.ts';

/**
 * What people may ask of a release. Each says who (as claimed) and why. On the wire the name of the action is the name
 * of the message and the rest is its payload.
 */

const planHashSchema = z
  .string()
  .regex(planHashPattern, 'expected the hash of a plan, or at least its first eight digits, as status shows it');
const digestSchema = z
  .string()
  .regex(digestNamePattern, 'expected a digest, or at least its first twelve digits, as status shows it');
const name = z.string().min(1).max(253);

const about = {
  plan: planHashSchema.optional().describe('The hash of the plan, as status shows it.'),
  digest: digestSchema.optional().describe('The digest that is waited for.'),
  target: name.optional().describe('The target that waits.'),
};

function namesOne(payload: { plan?: unknown; digest?: unknown; target?: unknown }): boolean {
  return payload.plan !== undefined || payload.digest !== undefined || payload.target !== undefined;
}
const namesOneMessage = 'expected what this is about: plan, digest or target';

/** A spec as written, or as a parsed one travels: with durations in milliseconds. Either way it is checked in full. */
export const specOnTheWire = z.unknown().transform((value, context): ReleaseSpec => {
  const parsed = releaseSpec.safeParse(withWrittenDurations(value));
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    context.addIssue({ code: 'custom', path: [...issue.path], message: issue.message });
  }
  return z.NEVER;
});

const payloads = {
  approve: z
    .strictObject({ ...who, ...about, signature: z.string().min(1).max(10_000).optional() })
    .refine(namesOne, namesOneMessage),
  reject: z.strictObject({ ...who, ...about }).refine(namesOne, namesOneMessage),
  abort: z.strictObject({
    ...who,
    how: z.enum(['stop', 'rollback']).describe('Leave the target in progress where it is, or bring it back.'),
    now: z.boolean().default(false).describe('Cut even a rollback in progress short.'),
  }),
  pause: z.strictObject(who),
  resume: z.strictObject(who),
  retry: z.strictObject({
    ...who,
    target: name.optional().describe('One target [all].'),
    skipPreflight: z.boolean().default(false).describe('Let the cure reach a target that is already sick.'),
  }),
  pin: z.strictObject({ ...who, image: pinSchema }),
  unpin: z.strictObject(who),
  block: z.strictObject({ ...who, image: blockSchema }),
  unblock: z.strictObject({ ...who, image: blockSchema }),
  setMode: z.strictObject({ ...who, mode: modeSchema }),
  applySpec: z.strictObject({ ...who, spec: specOnTheWire }),
  releaseOwnership: z.strictObject(who),
  runNow: z.strictObject(who),
};

type Payloads = { [K in keyof typeof payloads]: z.output<(typeof payloads)[K]> };

/**
 * One thing a person asks for. `verifiedBy` and `signedWith` (the key's fingerprint) never come off the wire: they are
 * who an activity found to have signed.
 */
export type ReleaseAction = {
  [K in keyof Payloads]: { readonly action: K } & Readonly<Payloads[K]> &
    (K extends 'approve' ? { readonly verifiedBy?: string; readonly signedWith?: string } : unknown);
}[keyof Payloads];

/** One action by its name. */
export type ActionOf<K extends ReleaseAction['action']> = Extract<ReleaseAction, { action: K }>;

/** An action that was read, or why it is refused. */
export type ActionParse =
  { readonly ok: true; readonly action: ReleaseAction } | { readonly ok: false; readonly message: string };

/**
 * Reads an action off the wire. Strict: a misspelt field is refused, and so is a payload that names `verifiedBy`.
 *
 * @param action the name of the message
 * @param payload the message's argument, of any shape
 */
export function parseAction(action: ReleaseAction['action'], payload: unknown): ActionParse {
  const read = readActionPayload(action, payloads[action], payload);
  return read.ok ? { ok: true, action: { action, ...read.payload } as ReleaseAction } : read;
}

const durationFields = [
  'pollInterval',
  'soak',
  'soakProbeInterval',
  'rolloutTimeout',
  'gateTimeout',
  'rollbackTimeout',
  'cooldown',
  'minimumAge',
];

function withWrittenDurations(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const spec = writeDurations(value, durationFields);
  if (!Array.isArray(spec.targets)) return spec;
  return { ...spec, targets: spec.targets.map((t: unknown) => (isRecord(t) ? writeDurations(t, ['soak']) : t)) };
}

function writeDurations(record: Readonly<Record<string, unknown>>, fields: readonly string[]): Record<string, unknown> {
  const written = { ...record };
  for (const field of fields) {
    const ms = written[field];
    if (typeof ms === 'number' && Number.isFinite(ms)) written[field] = formatDuration(ms);
  }
  return written;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
