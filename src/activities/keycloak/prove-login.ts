import { mayWrite } from '../../domain/core/mode.ts';
import { isUnmeasured, read, unmeasured, type Reading, type Unmeasured } from '../../domain/core/verdict.ts';
import { probeAim } from '../../domain/keycloak-flow/probe-client.ts';
import { describeProof, judgeProof, proofNotMade, type ProofOutcome } from '../../domain/keycloak-flow/proof.ts';
import { isOurs, verify, type FlowReadBack } from '../../domain/keycloak-flow/read-back.ts';
import type { ClientRepresentation, FlowRepresentation } from '../../domain/keycloak-flow/representation.ts';
import { openSession, uninterrupted, type KeycloakFlowDependencies, type Session } from './dependencies.ts';
import type { ProveInput } from './port.ts';
import {
  aimProbeClient,
  findProbeClient,
  readProbeClient,
  releaseProbeClient,
  type ProbeClient,
} from './probe-client.ts';
import { tryLogins } from './try-logins.ts';

/**
 * Shows that a candidate logs people in, and keeps out whom it must: the probe client is aimed at it, the probe users log
 * in, and the client is aimed at nothing again, whatever happened in between. A proof that was cut off left the client
 * aimed, which harms nobody: the next one takes it from there.
 *
 * What could not be read leaves the proof not made, never passed. Nothing secret is in what it comes to.
 */
export async function proveLogin(
  dependencies: KeycloakFlowDependencies,
  input: ProveInput,
  signal: AbortSignal,
): Promise<ProofOutcome> {
  const session = openSession(dependencies, input, signal);
  if (isUnmeasured(session)) return notRead(session);
  if (!mayWrite(input.mode)) {
    return proofNotMade(
      'Mode',
      `mode ${input.mode} writes nothing, and a proof aims the probe client at the candidate`,
    );
  }
  const flows = await session.reader.flows();
  if (flows.kind === 'unmeasured') return notRead(flows);
  const found = await findProbeClient(session, input.probe.client, flows.value, input.name);
  if (found.kind === 'unmeasured') return notRead(found);
  const before = await readProbeClient(session, found.value);
  if (before.kind === 'unmeasured') return notRead(before);
  if (probeAim(before.value, found.value.ours) === 'foreign') {
    const message = `client "${input.probe.client}" is aimed at a flow that was not built from here, so that it is no probe client and is left alone`;
    return proofNotMade('ProbeClient', message);
  }
  const unfit = unfitness(before.value);

  // Put back even where all else is called off, so that it does not go by the caller's signal.
  const release = () => releaseProbeClient(uninterrupted(session), found.value);
  let outcome: ProofOutcome;
  try {
    outcome =
      unfit === null
        ? await prove(dependencies, session, input, found.value, flows.value)
        : proofNotMade('ProbeClient', `client "${input.probe.client}" ${unfit}`);
  } catch (error) {
    await release();
    throw error;
  }
  const left = await release();
  return left === null ? outcome : notReleased(outcome, left);
}

async function prove(
  dependencies: KeycloakFlowDependencies,
  session: Session,
  input: ProveInput,
  client: ProbeClient,
  flows: readonly FlowRepresentation[],
): Promise<ProofOutcome> {
  const candidate = await readCandidate(session, input, flows);
  if (candidate.kind === 'unmeasured') return notRead(candidate);
  const aimed = await aimProbeClient(session, client, input.command.flowId);
  if (aimed !== null) return notRead(aimed);

  const executions = new Set(candidate.value.rows.map((row) => row.id));
  const readings = await tryLogins(dependencies, session, input, executions);

  // What was seen is a proof of the candidate where client and tree were the same all the while.
  const after = await readProbeClient(session, client);
  if (after.kind === 'unmeasured') return notRead(after);
  if (after.value.authenticationFlowBindingOverrides?.['browser'] !== input.command.flowId) {
    return proofNotMade('Changed', 'the probe client was aimed elsewhere while the logins were tried');
  }
  const again = await readCandidate(session, input, flows);
  if (again.kind === 'unmeasured') return notRead(again);
  return judgeProof(input.command.checks, readings);
}

/** The candidate as it is now; unmeasured where it is not the tree that is to be proven. */
async function readCandidate(
  { reader }: Session,
  { desired, name, command }: ProveInput,
  flows: readonly FlowRepresentation[],
): Promise<Reading<FlowReadBack>> {
  const what = `the candidate "${command.candidate}"`;
  const flow = flows.find((other) => other.alias === command.candidate && other.id === command.flowId);
  if (flow === undefined || !isOurs(flow, name)) {
    return unmeasured(what, 'Keycloak', 'missing', `${what} is not among the flows that were built from here`);
  }
  const readBack = await reader.readBack(flow);
  if (readBack.kind === 'unmeasured') return readBack;
  const verification = verify(desired, readBack.value);
  if (verification.kind === 'unmeasured') return verification;
  if (verification.kind === 'verified' && verification.treeHash === command.treeHash) return read(readBack.value);
  return unmeasured(what, 'Keycloak', 'error', `${what} is no longer the tree that was verified`);
}

/** What keeps a client from being logged in to; null where nothing does. */
export function unfitness(client: ClientRepresentation): string | null {
  if (client['enabled'] === false) return 'is disabled; enable it';
  if (client['standardFlowEnabled'] === false) return 'has no standard flow; turn it on';
  if (client['consentRequired'] === true) return 'asks for consent, which is no part of a flow; turn it off';
  return null;
}

function notRead({ message }: Unmeasured): ProofOutcome {
  return proofNotMade('Unread', message);
}

/** A failed proof stays one; any other counts for nothing while the client is not as it was. */
function notReleased(outcome: ProofOutcome, { message }: Unmeasured): ProofOutcome {
  const still = `the probe client may still be aimed at the candidate: ${message}`;
  if (outcome.kind === 'failed') return { ...outcome, message: `${outcome.message}; ${still}` };
  return proofNotMade('NotReleased', `${still} (${describeProof(outcome)})`);
}
