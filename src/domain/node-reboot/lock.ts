import { clipped } from '../core/clipped.ts';
import { z } from 'zod';
import { unmeasured, type Reading } from '../core/verdict.ts';
import { visitPhases, type Visit } from './visit.ts';
import { handCommands, readLockByHand } from './by-hand.ts';

/**
 * The one lock of a cluster: a ConfigMap that stands there whether it is held or not, so that a missing one is no free one.
 * It never expires. Whoever finds it held reads in it who holds it, what was done to which node, and how a person goes on
 * without Holdfast; whoever takes it over goes on from what it says and from nothing else.
 */
export interface LockRecord {
  readonly campaign: string;
  /** The workflow run that holds it: the first of its chain, so that it stays the same through continue-as-new. */
  readonly run: string;
  readonly visit: Visit;
  /** One sentence: why it is held just now. */
  readonly reason: string;
}

/** The lock as it was read. */
export interface LockReading {
  /** Null where nobody holds it. */
  readonly holder: LockRecord | null;
  /** The precondition of the next write. */
  readonly resourceVersion: string;
}

/** Who holds the lock, from the view of one run of one campaign. */
export type LockStanding =
  | { readonly kind: 'free' }
  | { readonly kind: 'ours'; readonly record: LockRecord }
  /** Held by an earlier run of this campaign, which is known to have ended. */
  | { readonly kind: 'left'; readonly record: LockRecord }
  | { readonly kind: 'foreign'; readonly holder: string; readonly message: string };

/** How the run that is written in a lock stands, as Temporal tells: `unknown` where it knows no such run. */
export type HolderRun = 'running' | 'ended' | 'unknown';

const visitSchema = z.strictObject({
  node: z.string().min(1),
  sentinel: z.string(),
  kernel: z.string().nullable(),
  startedAt: z.number(),
  step: z.number(),
  phase: z.enum(visitPhases),
  since: z.number(),
  before: z
    .strictObject({ bootId: z.string(), kernel: z.string(), memory: z.number(), unschedulable: z.boolean() })
    .nullable(),
  gatesAt: z.number().nullable(),
  rebootAt: z.number().nullable(),
  bootedAs: z.string().nullable(),
  hungSince: z.number().nullable(),
  uncordonedAt: z.number().nullable(),
  offeredBoot: z.string().nullable(),
  staleRounds: z.number(),
  givingUp: z.strictObject({ reason: z.string(), message: z.string(), keepLock: z.boolean() }).nullable(),
  personNext: z.string().nullable(),
  stoppedFor: z.strictObject({ reason: z.string(), message: z.string() }).nullable(),
});

/** What the ConfigMap's `data` holds: lines for people, and the visit for whoever takes it over. */
export function lockData({ campaign, run, visit: full, reason }: LockRecord): Record<string, string> {
  const visit = bounded(full);
  return {
    campaign,
    node: visit.node,
    phase: visit.phase,
    since: new Date(visit.since).toISOString(),
    run,
    reason: clip(reason),
    undo: handCommands({ run, visit }).join('\n'),
    visit: JSON.stringify(visit),
  };
}

/** An object of more than a megabyte is not taken, and a message may name each volume of a cluster. */
function clip(text: string): string {
  return clipped(text, 2_000);
}

function bounded(visit: Visit): Visit {
  const { givingUp, stoppedFor, personNext } = visit;
  return {
    ...visit,
    givingUp: givingUp === null ? null : { ...givingUp, message: clip(givingUp.message) },
    stoppedFor: stoppedFor === null ? null : { ...stoppedFor, message: clip(stoppedFor.message) },
    personNext: personNext === null ? null : clip(personNext),
  };
}

/**
 * Reads what the ConfigMap says. What cannot be understood is unmeasured, and neither free nor held: somebody has written
 * it by hand, or a later version of Holdfast has.
 *
 * @param data the ConfigMap's `data`; undefined and empty are a lock that nobody holds
 */
export function parseLock(
  name: string,
  data: Readonly<Record<string, string>> | undefined,
  resourceVersion: string,
): Reading<LockReading> {
  if (data === undefined || Object.keys(data).length === 0)
    return { kind: 'read', value: { holder: null, resourceVersion } };
  const { campaign, run, visit: written, reason = '' } = data;
  const odd = (why: string) =>
    unmeasured(`who holds the lock ${name}`, 'its ConfigMap', 'unparsed', `the lock ${name} is held, and ${why}`);
  if (campaign === undefined || run === undefined || written === undefined) {
    return odd(`names no ${campaign === undefined ? 'campaign' : run === undefined ? 'run' : 'visit'}`);
  }
  const visit = visitSchema.safeParse(parsedJson(written));
  if (!visit.success) return odd(`what it says of the node cannot be read: ${visit.error.issues[0]?.message ?? ''}`);
  if (data['node'] !== visit.data.node) return odd(`names two nodes, ${data['node']} and ${visit.data.node}`);
  return { kind: 'read', value: { holder: { campaign, run, visit: visit.data, reason }, resourceVersion } };
}

/**
 * Who holds the lock. An earlier run's lock is taken over only when that run is known to have ended: two servers may each
 * have a campaign of the same name, and then neither knows the other's run.
 */
export function lockStanding(
  { holder }: LockReading,
  us: Pick<LockRecord, 'campaign' | 'run'>,
  holderRun: HolderRun,
): LockStanding {
  if (holder === null) return { kind: 'free' };
  const named = `campaign ${holder.campaign}, which is at ${holder.visit.node} (${holder.visit.phase})`;
  const byHand = `it says itself how a person goes on: ${readLockByHand}`;
  if (holder.campaign !== us.campaign) {
    const why =
      holderRun === 'running' ? '' : `, and nothing is known to work on it: apply that campaign anew, or ${byHand}`;
    return { kind: 'foreign', holder: holder.campaign, message: `the lock is held by ${named}${why}` };
  }
  if (holder.run === us.run) return { kind: 'ours', record: holder };
  if (holderRun === 'ended') return { kind: 'left', record: holder };
  const why =
    holderRun === 'running'
      ? 'another run of it is at work'
      : `this Temporal knows no such run: another server may have a campaign of this name, or this one has forgotten it, since its retention is over. Where no other has, ${byHand}`;
  return { kind: 'foreign', holder: holder.campaign, message: `the lock is held by ${named}, and ${why}` };
}

/** What a write to the lock comes to: allowed, or why not. */
export type LockWrite = { readonly ok: true } | { readonly ok: false; readonly message: string };

/**
 * Whether a run may take the lock: when nobody holds it, when it holds it already (the answer was lost), and when it takes
 * over just what it saw an earlier run leave. Asked with what the same activity has just read.
 */
export function mayTakeLock({ holder }: LockReading, record: LockRecord, replaces: LockRecord | null): LockWrite {
  if (holder === null) {
    return replaces === null
      ? { ok: true }
      : { ok: false, message: 'the lock that was to be taken over is free by now' };
  }
  if (holder.run === record.run && isSameVisit(holder, record) && holder.visit.step <= record.visit.step) {
    return { ok: true };
  }
  // A worker that was taken for dead may have gone on since: then what it did is read first.
  const asSeen = replaces !== null && holder.run === replaces.run && holder.visit.step === replaces.visit.step;
  if (asSeen && isSameVisit(holder, replaces)) return { ok: true };
  const { campaign, visit } = holder;
  return { ok: false, message: `the lock is held by campaign ${campaign}, which is at ${visit.node} (${visit.phase})` };
}

/**
 * Whether a run may go on under the lock: as long as it holds it for this visit, and no later step of it has begun. What
 * comes late, from a worker that was taken for dead, is refused here.
 */
export function mayWriteLock({ holder }: LockReading, record: LockRecord): LockWrite {
  if (holder === null) return { ok: false, message: 'somebody has released the lock' };
  const { campaign, visit } = holder;
  if (holder.run !== record.run || !isSameVisit(holder, record)) {
    return {
      ok: false,
      message: `the lock is held by campaign ${campaign} now, which is at ${visit.node} (${visit.phase})`,
    };
  }
  if (visit.step > record.visit.step) {
    return { ok: false, message: `the lock says ${visit.phase} already, so that ${record.visit.phase} comes too late` };
  }
  return { ok: true };
}

function isSameVisit(a: LockRecord, b: LockRecord): boolean {
  return a.campaign === b.campaign && a.visit.node === b.visit.node && a.visit.startedAt === b.visit.startedAt;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
