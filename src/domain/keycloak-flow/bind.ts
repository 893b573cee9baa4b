import type { BindSwitch } from './bind-switch.ts';
import { command } from './commands.ts';
import { offerHash, type BindOffer } from './offer.ts';
import { describeProof, type ProofOutcome } from './proof.ts';
import type { RealmMarks } from './realm-marks.ts';
import type { Approval, PersonMark, Rejection } from './state.ts';

const dayMs = 24 * 60 * 60 * 1_000;

/** Others that bound it away this often within a day are not to be argued with. */
const mostAway = 2;

/** A verified candidate, and everything that says whether it may be bound. */
export interface BindQuestion {
  /** Of the KeycloakFlow. */
  readonly name: string;
  readonly offer: BindOffer;
  readonly bindSwitch: BindSwitch;
  readonly proof: ProofOutcome;
  readonly marks: RealmMarks;
  /** The hold as the realm says it or the workflow remembers it. */
  readonly hold: PersonMark | null;
  readonly approval: Approval | null;
  readonly rejection: Rejection | null;
  /** A run that was told not to bind: it narrows what the switch says, and never widens it. */
  readonly noBind: boolean;
  readonly forgivenAt: number;
  readonly now: number;
}

/** What may be done with a verified candidate. */
export type BindDecision =
  | {
      readonly kind: 'bind';
      readonly by: string;
      /** Instants at which it was bound away by others within the last day, this one included. */
      readonly away: readonly number[];
    }
  | { readonly kind: 'pending'; readonly reason: PendingReason; readonly message: string }
  | { readonly kind: 'never'; readonly reason: 'ProofFailed'; readonly message: string }
  /** People are paged, and nothing is bound until one of them says retry. */
  | { readonly kind: 'stop'; readonly message: string };

/** What a candidate waits for. */
export type PendingReason = 'Held' | 'NoBind' | 'SwitchedOff' | 'AwaitingApproval' | 'Rejected';

/**
 * Decides about binding a verified candidate. Everything that says no is looked at first, so that what says yes cannot
 * outrank it.
 */
export function decideBind(question: BindQuestion): BindDecision {
  const { name, offer, bindSwitch, proof, hold, noBind } = question;
  if (proof.kind === 'failed') {
    return {
      kind: 'never',
      reason: 'ProofFailed',
      message: `"${offer.candidate}" is not bound: ${describeProof(proof)}; correct it, then ${command('retry', name)}`,
    };
  }
  if (hold !== null) return pending('Held', heldBy(name, hold, offer));
  if (noBind) return pending('NoBind', `WOULD BIND "${offer.candidate}", and this run was told not to`);
  switch (bindSwitch) {
    case 'false':
      return pending('SwitchedOff', `WOULD BIND "${offer.candidate}": the bind switch is "false"`);
    case 'absent':
      return byApproval(question);
    case 'true':
      return bySwitch(question);
  }
}

/** No switch: one yes of a person binds once. */
function byApproval(question: BindQuestion): BindDecision {
  const { approval, offer, marks, now } = question;
  if (approval === null || approval.offerHash !== offerHash(offer) || isSpent(approval, marks)) return asks(question);
  if (!coversProof(approval, question.proof)) return asks(question);
  return { kind: 'bind', by: approval.by, away: recentAway(marks, question.forgivenAt, now) };
}

/** Switched on: what was proven is bound and kept; what was not proven needs a yes that says so. */
function bySwitch(question: BindQuestion): BindDecision {
  const { name, offer, proof, approval, marks, forgivenAt, now } = question;
  const away = [...recentAway(marks, forgivenAt, now), ...(isBoundAway(name, offer.from, marks) ? [now] : [])];
  if (away.length >= mostAway) {
    const message = `"${marks.bound?.alias ?? ''}" was bound away ${away.length} times within a day, now to "${offer.from}": nothing is bound any more; find out who does, then ${command('retry', name)}`;
    return { kind: 'stop', message };
  }
  if (proof.kind === 'passed') return { kind: 'bind', by: 'the bind switch', away };
  const covered =
    approval !== null &&
    approval.candidate === offer.candidate &&
    approval.treeHash === offer.treeHash &&
    coversProof(approval, proof);
  return covered ? { kind: 'bind', by: approval.by, away } : asks(question);
}

function asks({ name, offer, proof, rejection }: BindQuestion): BindDecision {
  if (rejection?.offerHash === offerHash(offer)) {
    const why = rejection.reason === '' ? '' : `: ${rejection.reason}`;
    return pending(
      'Rejected',
      `${rejection.by} rejected "${offer.candidate}"${why}; approving it, or ${command('retry', name)}, takes that back`,
    );
  }
  return pending('AwaitingApproval', `"${offer.candidate}" waits for an approval; ${describeProof(proof)}`);
}

/** A proof that was not made is covered only by an approval that says so. */
function coversProof(approval: Approval, proof: ProofOutcome): boolean {
  return proof.kind === 'passed' || (proof.kind === 'notMade' && approval.withoutProof);
}

/** An approval binds once, also where the workflow did not live to see it: the realm says what was bound, and when. */
export function isSpent(approval: Approval, { bound }: RealmMarks): boolean {
  return bound !== null && bound.alias === approval.candidate && bound.at >= approval.at;
}

/** True where what this KeycloakFlow bound last is not what is bound. */
function isBoundAway(name: string, from: string, { bound }: RealmMarks): boolean {
  return bound !== null && bound.of === name && bound.alias !== from;
}

function recentAway({ bound }: RealmMarks, forgivenAt: number, now: number): readonly number[] {
  return (bound?.away ?? []).filter((at) => at > now - dayMs && at > forgivenAt);
}

function heldBy(name: string, hold: PersonMark, offer: BindOffer): string {
  const why = hold.reason === '' ? '' : `: ${hold.reason}`;
  return `WOULD BIND "${offer.candidate}": binding is held by ${hold.by}${why}; ${command('lift-hold', name)}`;
}

function pending(reason: PendingReason, message: string): BindDecision {
  return { kind: 'pending', reason, message };
}
