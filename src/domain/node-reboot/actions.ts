import { z } from 'zod';
import { readActionPayload } from '../core/action-payload.ts';
import { asker as who } from '../core/asker.ts';
import { duration, formatDuration } from '../core/duration.ts';
import { modeSchema } from '../core/mode.ts';
import { planHashPattern } from '../core/plan-hash.ts';
import { nodeRebootSpec, type NodeRebootSpec } from './spec.ts';

/**
 * What people may ask of a NodeReboot. Each says who (as claimed) and why. On the wire the name of the action is the name
 * of the message and the rest is its payload.
 */

const node = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, 'expected the name of a node')
  .max(253);
const plan = z
  .string()
  .regex(
    planHashPattern,
    'expected the hash of what is offered, or at least its first eight digits, as status shows it',
  );

/** A spec as written, or as a parsed one travels: with its durations in milliseconds. Either way it is checked in full. */
const specOnTheWire = z.unknown().transform((value, context): NodeRebootSpec => {
  const parsed = nodeRebootSpec.safeParse(withWrittenDurations(value));
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    context.addIssue({ code: 'custom', path: [...issue.path], message: issue.message });
  }
  return z.NEVER;
});

/** An hour is long enough to look, and short enough that nobody forgets it. */
const overrideLasts = duration({ min: 1_000, max: 24 * 60 * 60 * 1_000 }).prefault('1h');

const payloads = {
  approve: z.strictObject({ ...who, node, plan, signature: z.string().min(1).max(10_000).optional() }),
  force: z.strictObject({
    ...who,
    reason: who.reason.refine((text) => text !== '', 'expected why this gate may be set aside'),
    gate: z.string().min(1).max(63).describe('The gate, as status names it.'),
    node,
    for: overrideLasts.describe('How long it may be used, once.'),
  }),
  cancel: z.strictObject(who),
  releaseLock: z.strictObject({ ...who, node }),
  pause: z.strictObject(who),
  resume: z.strictObject(who),
  retry: z.strictObject(who),
  setMode: z.strictObject({ ...who, mode: modeSchema }),
  applySpec: z.strictObject({ ...who, spec: specOnTheWire }),
  runNow: z.strictObject(who),
};

type Payloads = { [K in keyof typeof payloads]: z.output<(typeof payloads)[K]> };

/**
 * An action that was read in full. `verifiedBy` and `signedWith` (the key's fingerprint) never come off the wire: they are
 * who an activity found to have signed.
 */
export type NodeRebootAction = {
  [K in keyof Payloads]: { readonly action: K } & Readonly<Payloads[K]> &
    (K extends 'approve' ? { readonly verifiedBy?: string; readonly signedWith?: string } : unknown);
}[keyof Payloads];

/** One action by its name. */
export type ActionOf<K extends NodeRebootAction['action']> = Extract<NodeRebootAction, { action: K }>;

/** The names of all actions. */
export const actionNames = Object.keys(payloads) as NodeRebootAction['action'][];

/** An action that was read, or why it is refused. */
export type ActionParse =
  { readonly ok: true; readonly action: NodeRebootAction } | { readonly ok: false; readonly message: string };

/**
 * Reads an action off the wire. Strict: a misspelt field is refused, and so is a payload that names `verifiedBy`.
 *
 * @param action the name of the message
 * @param payload the message's argument, of any shape
 */
export function parseAction(action: NodeRebootAction['action'], payload: unknown): ActionParse {
  const read = readActionPayload(action, payloads[action], payload);
  return read.ok ? { ok: true, action: { action, ...read.payload } as NodeRebootAction } : read;
}

const durations = [
  'interval',
  'worstCase',
  'moveTimeout',
  'returnTimeout',
  'readyHold',
  'settleDeadline',
  'releaseDelay',
];

function withWrittenDurations(value: unknown): unknown {
  if (!isObject(value)) return value;
  const written = Object.entries(value).map(([key, of]): [string, unknown] => {
    if (key === 'drain' && isObject(of))
      return [key, { ...of, ...('timeout' in of ? { timeout: inGo(of['timeout']) } : {}) }];
    if (key === 'gates' && isObject(of) && isObject(of['host']) && 'gracePeriod' in of['host']) {
      return [key, { ...of, host: { ...of['host'], gracePeriod: inGo(of['host']['gracePeriod']) } }];
    }
    return [key, durations.includes(key) ? inGo(of) : of];
  });
  return Object.fromEntries(written);
}

function inGo(value: unknown): unknown {
  return typeof value === 'number' && Number.isFinite(value) ? formatDuration(value) : value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
