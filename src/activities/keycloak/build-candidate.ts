import { read, unmeasured, type Reading } from '../../domain/core/verdict.ts';
import {
  afterWrite,
  newBuild,
  nextBuildStep,
  type BuildProgress,
  type WriteAnswer,
} from '../../domain/keycloak-flow/build.ts';
import {
  candidateDescription,
  candidates,
  contentHash,
  type Candidate,
} from '../../domain/keycloak-flow/candidate-name.ts';
import { requestOf } from '../../domain/keycloak-flow/construction-request.ts';
import { nextConstruction, type ConstructionWrite } from '../../domain/keycloak-flow/construction.ts';
import { isOurs, verify, type FlowReadBack } from '../../domain/keycloak-flow/read-back.ts';
import type { FlowRepresentation } from '../../domain/keycloak-flow/representation.ts';
import type { BuildOutcome } from '../../domain/keycloak-flow/run.ts';
import { buildScope } from '../../domain/keycloak-flow/screen-scope.ts';
import { sleep, type WaitContext } from '../wait-context.ts';
import type { Sent } from './client.ts';
import type { Session } from './dependencies.ts';
import type { BuildInput } from './port.ts';
import type { InUse } from './reads.ts';

/** What a build heartbeats: what it has sent last, so that a try that goes on does not repeat it blindly. */
export interface BuildHeartbeat {
  readonly candidate: string;
  readonly progress: BuildProgress;
}

/** What is in use is read anew for writes after this long. */
const freshMs = 30_000;
/** A build that takes more steps than its tree can have writes, each read thrice, goes round in a circle. */
const mostSteps = 2_000;

/** Builds a candidate, or goes on with it, until it is verified. */
export async function buildCandidate(
  session: Session,
  input: BuildInput,
  context: WaitContext<BuildHeartbeat>,
): Promise<BuildOutcome> {
  const candidate = candidates(input.desired).find((known) => known.alias === input.candidate);
  if (candidate === undefined) {
    const message = `"${input.candidate}" is no candidate of what is declared`;
    return { kind: 'failed', reason: 'NoCandidate', message };
  }
  const build = new Build(session, input, candidate, context);
  return build.run();
}

class Build {
  readonly #session: Session;
  readonly #input: BuildInput;
  readonly #candidate: Candidate;
  readonly #description: string;
  readonly #context: WaitContext<BuildHeartbeat>;
  #progress: BuildProgress;
  #inUse: { readonly reading: InUse; readonly at: number } | null = null;
  /** The candidate's entry in the list of flows; it is not listed again before it is verified. */
  #flow: FlowRepresentation | null = null;

  constructor(session: Session, input: BuildInput, candidate: Candidate, context: WaitContext<BuildHeartbeat>) {
    this.#session = session;
    this.#input = input;
    this.#candidate = candidate;
    this.#description = candidateDescription(input.name, contentHash(input.desired));
    this.#context = context;
    const { resumed } = context;
    this.#progress = resumed?.candidate === candidate.alias ? resumed.progress : newBuild;
  }

  async run(): Promise<BuildOutcome> {
    const { desired, name } = this.#input;
    let foreseen: FlowReadBack | null = null;
    for (let count = 0; count < mostSteps; count++) {
      const seen: Reading<FlowReadBack | null> = foreseen === null ? await this.#read() : read(foreseen);
      if (seen.kind === 'unmeasured') return seen;
      const wants = nextConstruction(desired, this.#candidate, name, seen.value);
      const step = nextBuildStep(this.#progress, wants);
      foreseen = null;
      switch (step.do) {
        case 'verify':
          return this.#verify();
        case 'leave':
          return { kind: 'left', why: step.why, created: this.#created(seen.value) };
        case 'stop':
          return step.because.kind === 'fail'
            ? { kind: 'failed', reason: 'BuildStopped', message: step.because.message }
            : step.because;
        case 'readAgain':
          this.#keep(step.progress);
          this.#flow = null;
          await sleep(this.#session.rereadAfterMs, this.#context.signal);
          break;
        case 'write': {
          const inUse = await this.#freshInUse();
          // The choke point would refuse it: that is no fault of the build, but something that nobody knows.
          if (inUse.sets.kind === 'unmeasured') return inUse.sets;
          foreseen = await this.#write(step.write, seen.value, inUse);
        }
      }
    }
    return { kind: 'failed', reason: 'NoEnd', message: `"${this.#candidate.alias}" came to no end` };
  }

  /** True where something of the candidate is there, or was once said to be: its name is used up. */
  #created(seen: FlowReadBack | null): boolean {
    if (this.#progress.answer?.kind === 'accepted') return true;
    return seen !== null && isOurs(seen.flow, this.#input.name);
  }

  /** Null where there is no such flow. */
  async #read(): Promise<Reading<FlowReadBack | null>> {
    const { reader } = this.#session;
    if (this.#flow === null) {
      const flows = await this.#flows();
      if (flows.kind === 'unmeasured') return flows;
      const found = flows.value.find((flow) => flow.alias === this.#candidate.alias);
      if (found === undefined) return read(null);
      const readBack = await reader.readBack(found);
      // From now on the entry is older than the rows, so that the number of rows in it says nothing.
      this.#flow = { ...found, authenticationExecutions: null };
      return readBack;
    }
    return reader.readBack(this.#flow);
  }

  /** The first time, the list that came with what is in use; later a fresh one. */
  async #flows(): Promise<Reading<readonly FlowRepresentation[]>> {
    if (this.#inUse === null) return (await this.#freshInUse()).flows;
    return this.#session.reader.flows();
  }

  async #freshInUse(): Promise<InUse> {
    const { reader, clock } = this.#session;
    if (this.#inUse !== null && clock() - this.#inUse.at < freshMs) return this.#inUse.reading;
    const at = clock();
    const reading = await reader.inUse(this.#input.probeClient);
    this.#inUse = { reading, at };
    return reading;
  }

  /** Sends one write. Returns what the candidate is from now on, where the answer leaves no doubt about it. */
  async #write(write: ConstructionWrite, before: FlowReadBack | null, inUse: InUse): Promise<FlowReadBack | null> {
    const { client, scope, signal } = this.#session;
    const build = buildScope(this.#candidate, this.#description, before?.rows ?? null);
    const request = requestOf(scope.realm, write);
    const unknown: WriteAnswer = { kind: 'unknown', message: 'this try was cut off' };
    const progress = this.#progress;
    this.#keep(afterWrite(progress, write, unknown));
    const sent = await client.send(request, { ...scope, protected: inUse.sets, build }, signal);
    const answer = answerOf(sent);
    this.#keep(afterWrite(progress, write, answer));
    return answer.kind === 'accepted' ? foresee(write, before) : null;
  }

  #keep(progress: BuildProgress): void {
    this.#progress = progress;
    this.#context.progress({ candidate: this.#candidate.alias, progress });
  }

  /** Reads everything once more. */
  async #verify(): Promise<BuildOutcome> {
    const { reader } = this.#session;
    const { alias } = this.#candidate;
    const flows = await reader.flows();
    if (flows.kind === 'unmeasured') return flows;
    const flow = flows.value.find((other) => other.alias === alias);
    if (flow === undefined) {
      return unmeasured('the candidate', 'Keycloak', 'missing', `"${alias}" is not in the list of flows any more`);
    }
    const readBack = await reader.readBack(flow);
    if (readBack.kind === 'unmeasured') return readBack;
    const verification = verify(this.#input.desired, readBack.value);
    switch (verification.kind) {
      case 'unmeasured':
        return verification;
      case 'verified':
        return { kind: 'built', flowId: flow.id, treeHash: verification.treeHash };
      case 'different': {
        const why = `"${alias}" is not what was built: ${verification.differences.join('; ')}`;
        return { kind: 'left', why, created: true };
      }
    }
  }
}

function answerOf(sent: Sent): WriteAnswer {
  switch (sent.kind) {
    case 'answered':
      return { kind: 'accepted' };
    case 'refused': {
      const { reason, message } = sent.refusal;
      return { kind: reason === 'Protected' ? 'taken' : 'refused', message };
    }
    case 'failed': {
      const { status, effect, reading } = sent;
      const { message } = reading;
      if (status === 409) return { kind: 'taken', message };
      const certain = effect === 'none' && status !== null && reading.why !== 'throttled';
      return certain ? { kind: 'refused', message } : { kind: 'unknown', message };
    }
  }
}

/**
 * A requirement that was accepted changes one field of one row. What it really came to is seen at the next reading,
 * which the next row needs anyway, and when all is verified.
 */
function foresee(write: ConstructionWrite, before: FlowReadBack | null): FlowReadBack | null {
  if (write.kind !== 'setRequirement' || before === null) return null;
  const rows = before.rows.map((row) => (row.id === write.id ? { ...row, requirement: write.requirement } : row));
  return { ...before, rows };
}
