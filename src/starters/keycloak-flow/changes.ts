import type { KeycloakFlowStatus } from '../../domain/keycloak-flow/status.ts';
import { alike } from './alike.ts';

/**
 * What has changed between two looks at a KeycloakFlow, a sentence each: what is bound, what its passes came to, what
 * waits, and what people did.
 *
 * @param before null for the first look
 */
export function describeFlowChanges(before: KeycloakFlowStatus | null, after: KeycloakFlowStatus): readonly string[] {
  return [
    ...ofPasses(before, after),
    ...ofBound(before, after),
    ...ofCandidate(before, after),
    ...ofHold(before, after),
    ...ofMode(before, after),
    ...ofWaiting(before, after),
  ];
}

function ofPasses(before: KeycloakFlowStatus | null, after: KeycloakFlowStatus): string[] {
  const changed = after.passes.filter((now) => {
    const was = before?.passes.find((pass) => pass.pass === now.pass);
    return was?.outcome !== now.outcome || was.reason !== now.reason || was.message !== now.message;
  });
  return alike(changed).map(({ names, pass }) => `${names}: ${pass.outcome} (${pass.reason}): ${pass.message}`);
}

function ofBound(before: KeycloakFlowStatus | null, { bound }: KeycloakFlowStatus): string[] {
  if (before === null || before.bound === null || bound === null || before.bound.alias === bound.alias) return [];
  return [`"${bound.alias}" is bound, was "${before.bound.alias}"`];
}

function ofCandidate(before: KeycloakFlowStatus | null, { candidate }: KeycloakFlowStatus): string[] {
  if (before === null || candidate === null || before.candidate?.planHash === candidate.planHash) return [];
  return [`"${candidate.alias}" waits to be bound, plan ${candidate.planHash}; ${candidate.proof}`];
}

function ofHold(before: KeycloakFlowStatus | null, { hold }: KeycloakFlowStatus): string[] {
  if (before === null || before.hold?.at === hold?.at) return [];
  return [hold === null ? 'binding is held no longer' : `binding is held by ${hold.by}`];
}

function ofMode(before: KeycloakFlowStatus | null, { effectiveMode, modeReason }: KeycloakFlowStatus): string[] {
  if (before === null || before.effectiveMode === effectiveMode) return [];
  return [`mode ${effectiveMode}, was ${before.effectiveMode}${modeReason === null ? '' : `: ${modeReason}`}`];
}

/** Only what a person can lift. */
function ofWaiting(before: KeycloakFlowStatus | null, { waiting }: KeycloakFlowStatus): string[] {
  if (waiting?.who !== 'person' || before?.waiting?.for === waiting.for) return [];
  return [`waits for a person; next: ${waiting.next}`];
}
