import { unmeasured, type Unmeasured } from '../../domain/core/verdict.ts';
import { bindingFault } from '../../domain/keycloak-flow/check-bind.ts';
import type { JsonObject } from '../../domain/keycloak-flow/json-body.ts';
import type { RealmMarks } from '../../domain/keycloak-flow/realm-marks.ts';
import type { RealmRepresentation } from '../../domain/keycloak-flow/representation.ts';
import { formatPath } from '../../domain/keycloak-flow/request-path.ts';
import type { WriteOutcome } from '../../domain/keycloak-flow/run.ts';
import type { RealmWrite } from '../../domain/keycloak-flow/screen-scope.ts';
import type { Sent } from './client.ts';
import { uninterrupted, type Session } from './dependencies.ts';
import { findLostEdits } from './lost-edits.ts';

/** A PUT of the whole realm, with how it is judged. */
export interface RealmWriteRequest {
  /** With what was read right before, and for what. */
  readonly write: RealmWrite;
  readonly body: JsonObject;
  /** When `write.before` was asked for, by `performance.now()`. */
  readonly readAt: number;
  /** Sentences that say what a reading after it lacks; none where it is as it was sent. */
  readonly faults: (after: RealmRepresentation) => readonly string[];
  /** How it ends where it took effect. */
  readonly done: string;
}

/**
 * A PUT sends all of what was read, so that a worker that went to sleep after reading must not send it when it wakes.
 * A reading takes a small part of this.
 */
const staleMs = 20_000;

/**
 * Writes the realm, once, and reads it back: what is there counts, whatever the answer was. An answer that never came is
 * settled by the same reading; where the reading does not show the write, it may still come, and nothing is known.
 */
export async function putRealm(session: Session, request: RealmWriteRequest): Promise<WriteOutcome> {
  const { client, scope, signal } = session;
  const afterwards = uninterrupted(session);
  const { write, body, faults, done } = request;
  const path = formatPath(['admin', 'realms', scope.realm]);
  if (performance.now() - request.readAt > staleMs) {
    const message = `the realm was read more than ${staleMs / 1_000} s ago, as by a worker that was stopped in between, so that nothing was written`;
    return { kind: 'notRead', message };
  }
  const sent = await client.send({ method: 'PUT', path, body }, { ...scope, realmWrite: write }, signal);
  const windowMs = performance.now() - request.readAt;
  const ended = endedUnsent(sent);
  if (ended !== null) return ended;

  const after = await afterwards.reader.realm();
  if (after.kind === 'unmeasured') {
    return { ...after, message: `whether the realm was written is not known: ${after.message}` };
  }
  const lacking = faults(after.value);
  const put = { before: write.before, sent: body, after: after.value, windowMs };
  if (lacking.length > 0) {
    // What somebody else did at the same time may be why, and what of it was lost is to be said all the same.
    const edits = sent.kind === 'answered' ? (await findLostEdits(afterwards, put)).lost : [];
    return lackingOutcome(sent, edits.length === 0 ? lacking : [...lacking, writtenOver(edits)]);
  }
  const { lost, notVerified } = await findLostEdits(afterwards, put);
  return {
    kind: 'written',
    message: sent.kind === 'answered' ? done : `${done} (its answer was lost; it was read back)`,
    ...(lost.length === 0 ? {} : { lost }),
    ...(notVerified.length === 0 ? {} : { notVerified }),
  };
}

/** Edits that a write went over, as a sentence. */
export function writtenOver(edits: readonly string[]): string {
  return `an edit by somebody else was written over: ${edits.join('; ')}`;
}

/** How a write ends that certainly changed nothing; null where it may have. */
export function endedUnsent(sent: Sent): WriteOutcome | null {
  switch (sent.kind) {
    case 'answered':
      return null;
    case 'refused':
      return { kind: 'stopped', reason: `Refused${sent.refusal.reason}`, message: sent.refusal.message };
    case 'failed': {
      if (sent.effect === 'unknown') return null;
      const { why, message } = sent.reading;
      if (why === 'denied') return { kind: 'failed', reason: 'Denied', message };
      return sent.status !== null && sent.status < 500 && why !== 'throttled'
        ? { kind: 'failed', reason: 'RefusedByServer', message }
        : notRead(sent.reading);
    }
  }
}

/** Nothing was sent, since what must be known before could not be had. */
export function notRead({ message }: Unmeasured): WriteOutcome {
  return { kind: 'notRead', message: `nothing was written: ${message}` };
}

/** A write that a reading does not show: not done, where Keycloak said that it was; else not known. */
export function lackingOutcome(sent: Sent, lacking: readonly string[]): WriteOutcome {
  const why = lacking.join('; ');
  if (sent.kind === 'failed') {
    const message = `${sent.reading.message}; read back, it has not taken effect so far: ${why}`;
    return unmeasured(sent.reading.what, sent.reading.from, sent.reading.why, message);
  }
  return { kind: 'failed', reason: 'NotStored', message: `Keycloak accepted the write, and read back: ${why}` };
}

/** What a reading lacks of a binding with its marks. */
export function bindingFaults(browserFlow: string, marks: RealmMarks): RealmWriteRequest['faults'] {
  return (after) => {
    const fault = bindingFault({ browserFlow, marks }, after);
    return fault === null ? [] : [fault];
  };
}
