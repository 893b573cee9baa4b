import { z } from 'zod';
import { readActionPayload } from '../core/action-payload.ts';
import { asker as who } from '../core/asker.ts';
import { formatDuration } from '../core/duration.ts';
import { modeSchema } from '../core/mode.ts';
import { planHashPattern } from '../core/plan-hash.ts';
import { keycloakFlowSpec, type KeycloakFlowSpec } from './spec.ts';

/**
 * What people may ask of a KeycloakFlow. Each says who (as claimed) and why. On the wire the name of the action is the
 * name of the message and the rest is its payload.
 */

const about = {
  candidate: z.string().min(1).max(255).describe('The alias of the candidate, as status shows it.'),
  plan: z
    .string()
    .regex(
      planHashPattern,
      'expected the hash of what is offered, or at least its first eight digits, as status shows it',
    )
    .describe('The hash of what is offered, as status shows it.'),
};

/** A spec as written, or as a parsed one travels: with its interval in milliseconds. Either way it is checked in full. */
const specOnTheWire = z.unknown().transform((value, context): KeycloakFlowSpec => {
  const parsed = keycloakFlowSpec.safeParse(withWrittenInterval(value));
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    context.addIssue({ code: 'custom', path: [...issue.path], message: issue.message });
  }
  return z.NEVER;
});

const payloads = {
  approve: z.strictObject({
    ...who,
    ...about,
    withoutProof: z.boolean().default(false).describe('Bind it although no login was shown.'),
    signature: z.string().min(1).max(10_000).optional(),
  }),
  reject: z.strictObject({ ...who, ...about }),
  rollback: z.strictObject(who),
  liftHold: z.strictObject(who),
  pause: z.strictObject(who),
  resume: z.strictObject(who),
  retry: z.strictObject(who),
  setMode: z.strictObject({ ...who, mode: modeSchema }),
  applySpec: z.strictObject({
    ...who,
    spec: specOnTheWire,
    noBind: z.boolean().default(false).describe('The run that follows binds nothing.'),
  }),
  releaseOwnership: z.strictObject(who),
  runNow: z.strictObject({
    ...who,
    noBind: z.boolean().default(false).describe('Build and verify, and bind nothing.'),
  }),
};

type Payloads = { [K in keyof typeof payloads]: z.output<(typeof payloads)[K]> };

/**
 * One thing a person asks for. `verifiedBy` and `signedWith` (the key's fingerprint) never come off the wire: they are
 * who an activity found to have signed.
 */
export type KeycloakFlowAction = {
  [K in keyof Payloads]: { readonly action: K } & Readonly<Payloads[K]> &
    (K extends 'approve' ? { readonly verifiedBy?: string; readonly signedWith?: string } : unknown);
}[keyof Payloads];

/** One action by its name. */
export type ActionOf<K extends KeycloakFlowAction['action']> = Extract<KeycloakFlowAction, { action: K }>;

/** The names of all actions. */
export const actionNames = Object.keys(payloads) as KeycloakFlowAction['action'][];

/** An action that was read, or why it is refused. */
export type ActionParse =
  { readonly ok: true; readonly action: KeycloakFlowAction } | { readonly ok: false; readonly message: string };

/**
 * Reads an action off the wire. Strict: a misspelt field is refused, and so is a payload that names `verifiedBy`.
 *
 * @param action the name of the message
 * @param payload the message's argument, of any shape
 */
export function parseAction(action: KeycloakFlowAction['action'], payload: unknown): ActionParse {
  const read = readActionPayload(action, payloads[action], payload);
  return read.ok ? { ok: true, action: { action, ...read.payload } as KeycloakFlowAction } : read;
}

function withWrittenInterval(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('interval' in value)) return value;
  const { interval } = value;
  return typeof interval === 'number' && Number.isFinite(interval)
    ? { ...value, interval: formatDuration(interval) }
    : value;
}
