import type { Unmeasured } from '../core/verdict.ts';
import type { Construction, ConstructionWrite } from './construction.ts';

/** What a build has done last. Plain JSON. */
export interface BuildProgress {
  readonly last: ConstructionWrite | null;
  readonly answer: WriteAnswer | null;
  /** How often the last write was sent in a row. */
  readonly sent: number;
  /** How often the candidate was read since then without showing it. */
  readonly rereads: number;
}

/** What came of sending one write. */
export type WriteAnswer =
  | { readonly kind: 'accepted' }
  /** Nothing came back, or nothing that tells: only reading back says whether it took effect. */
  | { readonly kind: 'unknown'; readonly message: string }
  /** The server holds the alias already (409), or something is bound to the candidate by now: it is no longer ours to build. */
  | { readonly kind: 'taken'; readonly message: string }
  /** The server or the choke point refused it. */
  | { readonly kind: 'refused'; readonly message: string };

/** What to do next for a build. */
export type BuildStep =
  | { readonly do: 'write'; readonly write: ConstructionWrite }
  /** After a short wait: what was read is older than what was written. */
  | { readonly do: 'readAgain'; readonly progress: BuildProgress }
  | { readonly do: 'verify' }
  /** The candidate is given up: it stays as it is, and another name is taken. */
  | { readonly do: 'leave'; readonly why: string }
  /** Nothing is known, or nothing would help: the next pass looks again. */
  | { readonly do: 'stop'; readonly because: Unmeasured | { readonly kind: 'fail'; readonly message: string } };

const mostSent = 3;
/** Nodes of one cluster may show a write late. */
const mostRereads = 2;

/** A build that has written nothing yet. */
export const newBuild: BuildProgress = { last: null, answer: null, sent: 0, rereads: 0 };

/** The progress after a write was sent. */
export function afterWrite(progress: BuildProgress, write: ConstructionWrite, answer: WriteAnswer): BuildProgress {
  const again = progress.last !== null && rank(progress.last) === rank(write);
  return { last: write, answer, sent: again ? progress.sent + 1 : 1, rereads: 0 };
}

/**
 * The next step of a build, from what the candidate wants now that it was read back. What is there counts, not what was
 * answered; but an answer that a write took effect and a reading without it mean that one of the two is wrong.
 */
export function nextBuildStep(progress: BuildProgress, wants: Construction): BuildStep {
  switch (wants.kind) {
    case 'unmeasured':
      return { do: 'stop', because: wants };
    case 'foreign':
      return { do: 'leave', why: wants.why };
    case 'done':
      return { do: 'verify' };
    case 'write':
      return nextWrite(progress, wants.write);
  }
}

function nextWrite(progress: BuildProgress, write: ConstructionWrite): BuildStep {
  const { last, answer, sent, rereads } = progress;
  if (last === null || answer === null || rank(write) > rank(last)) return { do: 'write', write };
  const same = rank(write) === rank(last);
  if (same && answer.kind === 'taken') return { do: 'leave', why: answer.message };
  if (same && answer.kind === 'refused') return { do: 'stop', because: { kind: 'fail', message: answer.message } };
  // Repeating it on a reading that is out of date would add an execution twice.
  if (rereads < mostRereads) return { do: 'readAgain', progress: { ...progress, rereads: rereads + 1 } };
  if (answer.kind === 'accepted' || !same) {
    return { do: 'leave', why: `Keycloak accepted ${describeWrite(last)}, and it did not happen` };
  }
  if (sent < mostSent) return { do: 'write', write };
  const message = `${describeWrite(write)} was sent ${sent} times without an answer`;
  return { do: 'stop', because: { kind: 'fail', message } };
}

/** Where in the order of a build a write stands. */
function rank(write: ConstructionWrite): number {
  if (write.kind === 'createFlow') return -1;
  return write.row * 3 + { addExecution: 0, addSubFlow: 0, setRequirement: 1, addConfig: 2 }[write.kind];
}

/** A write in words. */
export function describeWrite(write: ConstructionWrite): string {
  switch (write.kind) {
    case 'createFlow':
      return `the creation of flow "${write.alias}"`;
    case 'addExecution':
      return `the addition of ${write.provider} to "${write.flow}"`;
    case 'addSubFlow':
      return `the addition of sub-flow "${write.alias}" to "${write.flow}"`;
    case 'setRequirement':
      return `requirement ${write.requirement} of row ${write.row + 1} of "${write.flow}"`;
    case 'addConfig':
      return `the creation of configuration "${write.alias}"`;
  }
}
