import { z } from 'zod';
import { unpack } from '../../domain/core/packed.ts';
import { modes } from '../../domain/core/mode.ts';
import { specOnTheWire } from '../../domain/release/actions.ts';
import type { RolloutState } from '../../domain/release/rollout.ts';
import { releaseId, type RolloutMessage, type RolloutReport } from './messages.ts';

/*
 * What a release and its rollout take from each other is checked here. Anybody who may write to Temporal's namespace can
 * send a signal of any shape, and one that a handler falls over would fail every workflow task of that run from then on.
 */

/** A message that was read, or why it is dropped. */
export type MessageParse<T> = { readonly ok: true; readonly message: T } | { readonly ok: false; readonly why: string };

/** A rollout's report, its state unpacked. */
export type ReadReport =
  | Extract<RolloutReport, { kind: 'target' | 'dropped' }>
  | { readonly rollout: string; readonly kind: 'state'; readonly state: RolloutState; readonly finished: boolean };

const text = z.string();
const count = z.number();
const outcome = z.looseObject({ phase: text, reason: text, message: text });
const stopped = z.looseObject({ target: text, reason: text, message: text, cause: text }).nullable();
const blocked = z.array(
  z.looseObject({ image: text, by: text, reason: text, at: count, cooldownUntil: count, cooldownOnly: z.boolean() }),
);
const how = z.enum(['stop', 'rollback']);

const target = z.looseObject({
  item: z.looseObject({ target: text, action: z.enum(['roll', 'verify']), from: text, to: text, toLabel: text }),
  step: z.enum([
    'Waiting',
    'Preflight',
    'Approval',
    'Patching',
    'Rolling',
    'Restoring',
    'Soaking',
    'Passing',
    'RollingBack',
    'Recovering',
    'Done',
  ]),
  since: count,
  changed: z.boolean(),
  wentBack: z.boolean(),
  rollbackTo: z.looseObject({ image: text, version: text.nullable() }).nullable(),
  failure: z.looseObject({ reason: text, message: text, block: z.boolean() }).nullable(),
  moved: z.array(z.looseObject({ name: text })),
  outcome: outcome.nullable(),
});

const rolloutState = z.looseObject({
  release: text,
  id: text,
  planHash: text,
  startedAt: count,
  spec: z.looseObject({ targets: z.array(z.looseObject({})) }),
  mode: z.enum(modes),
  paused: z.boolean(),
  abort: z.looseObject({ how, now: z.boolean(), by: text, reason: text }).nullable(),
  stopped,
  blocked,
  decisions: z.array(z.looseObject({ target: text, approved: z.boolean(), by: text, reason: text, at: count })),
  targets: z.array(target),
  waves: z.array(z.array(text)),
});

const report = z.discriminatedUnion('kind', [
  z.looseObject({ kind: z.literal('target'), rollout: text, target, stopped }),
  z.looseObject({ kind: z.literal('state'), rollout: text, state: z.looseObject({}), finished: z.boolean() }),
  z.looseObject({ kind: z.literal('dropped'), rollout: text, why: text }),
]);

const controls = {
  mode: z.looseObject({ mode: z.enum(modes) }),
  paused: z.looseObject({ paused: z.boolean() }),
  blocked: z.looseObject({ blocked }),
  spec: z.looseObject({ spec: specOnTheWire }),
  abort: z.looseObject({ how, now: z.boolean(), by: text, reason: text }),
  decide: z.looseObject({ target: text, approved: z.boolean(), by: text, reason: text }),
  report: z.looseObject({ to: text }),
} as const satisfies Record<RolloutMessage['kind'], z.ZodType>;
const control = z.looseObject({ kind: z.enum(Object.keys(controls) as RolloutMessage['kind'][]) });

/** Reads what a rollout reports. What is more than is needed here is let pass: a newer rollout may say more. */
export function parseRolloutReport(message: unknown, release: string): MessageParse<ReadReport> {
  const parsed = report.safeParse(message);
  if (!parsed.success) return dropped('rolloutReport', parsed.error);
  const found = message as RolloutReport;
  if (found.kind !== 'state') return { ok: true, message: found };
  const state = unpacked(found.state);
  const read = rolloutState.safeParse(state);
  if (!read.success) return dropped('rolloutReport', read.error);
  if (read.data.release !== release || read.data.id !== found.rollout) {
    return { ok: false, why: `rolloutReport: it is about rollout ${read.data.id} of release ${read.data.release}` };
  }
  return { ok: true, message: { ...found, state: state as RolloutState } };
}

/** Reads what a rollout is told by its release, and by nobody else: it reports to none but its own release. */
export function parseRolloutMessage(message: unknown, release: string): MessageParse<RolloutMessage> {
  const parsed = control.safeParse(message);
  if (!parsed.success) return dropped('control', parsed.error);
  const read = controls[parsed.data.kind].safeParse(message);
  if (!read.success) return dropped('control', read.error);
  const found = message as RolloutMessage;
  if (found.kind === 'report' && found.to !== releaseId(release)) {
    return { ok: false, why: `control: a rollout of release ${release} reports to ${releaseId(release)} alone` };
  }
  return { ok: true, message: found };
}

function unpacked(packed: object): unknown {
  try {
    return unpack(packed as Parameters<typeof unpack>[0]);
  } catch {
    return null;
  }
}

function dropped(name: string, error: z.ZodError): { readonly ok: false; readonly why: string } {
  const [issue] = error.issues;
  const place = issue?.path.join('.') ?? '';
  return { ok: false, why: `${name}: ${place === '' ? '' : `${place}: `}${issue?.message ?? 'not a message'}` };
}
