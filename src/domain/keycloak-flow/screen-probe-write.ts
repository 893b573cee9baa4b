import { enrolmentAction } from './desired.ts';
import { differingFields, isObject, maskedField } from './json-body.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Scope } from './screen-scope.ts';

/** The PUT of the one required action: two fields differ from what was read right before, and are what they must be. */
export function screenRequiredActionWrite(body: unknown, { requiredAction: before }: Scope): Refusal | null {
  if (before === null) return refuse('Undetermined', 'the required action was not read right before');
  if (!isObject(body)) return refuse('Body', 'the required action: the body is no object');
  if (before.alias !== enrolmentAction || body['alias'] !== enrolmentAction) {
    return refuse('Body', `the required action: the alias is ${enrolmentAction}; another one would rename it`);
  }
  const changed = differingFields(before, body).find((field) => field !== 'enabled' && field !== 'defaultAction');
  if (changed !== undefined) return refuse('Body', `the required action: ${changed} stays as it was read`);
  if (body['enabled'] !== true || body['defaultAction'] !== false) {
    return refuse('Body', 'the required action: it is enabled, and no default action');
  }
  return null;
}

/**
 * The PUT of the probe client: its browser override alone, at a candidate that this workflow built or (empty, which is
 * how Keycloak takes an override away) at nothing.
 */
export function screenProbeWrite(body: unknown, id: string, { probe }: Scope): Refusal | null {
  if (probe === null || id !== probe.id) return refuse('Protected', `client ${id} is not the probe client`);
  const { before, candidateIds } = probe;
  if (before === null) return refuse('Undetermined', 'the probe client was not read right before');
  if (before.id !== id) return refuse('Protected', `what was read is client ${before.id}, not the probe client`);
  if (!isObject(body)) return refuse('Body', 'the probe client: the body is no object');
  const masked = maskedField(body);
  if (masked !== null)
    return refuse('Masked', `the probe client: ${masked} is masked, and would be stored as the mask`);
  const changed = differingFields(before, body).find((field) => field !== 'authenticationFlowBindingOverrides');
  if (changed !== undefined) return refuse('Body', `the probe client: ${changed} stays as it was read`);
  const overrides = body['authenticationFlowBindingOverrides'];
  if (!isObject(overrides)) return refuse('Body', 'the probe client: the overrides are no object');
  const other = differingFields(before.authenticationFlowBindingOverrides ?? {}, overrides).find(
    (b) => b !== 'browser',
  );
  if (other !== undefined) return refuse('Body', `the probe client: override ${other} stays as it was read`);
  const { browser } = overrides;
  if (browser === '' || (typeof browser === 'string' && candidateIds.has(browser))) return null;
  return refuse('OutsideBuild', 'the probe client is aimed at a candidate that this workflow built, or at nothing');
}
