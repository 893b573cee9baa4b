import { z } from 'zod';
import { read, unmeasured, type Reading } from '../core/verdict.ts';

/**
 * Keycloak's answers (26.x), as far as they are read. Whatever else an answer holds is kept, since every PUT sends back
 * what its GET gave. A null says the same as an absent field.
 */

const text = z.string().nullish();
const flag = z.boolean().nullish();

/** A row of `GET …/authentication/flows/{alias}/executions`: the tree of a flow, depth first. */
export const executionRowSchema = z.looseObject({
  id: z.string().min(1),
  level: z.int().min(0),
  index: z.int().min(0),
  requirement: z.string().min(1),
  requirementChoices: z.array(z.string()).nullish(),
  /** An authenticator's; a sub-flow has it only where it is a form flow. */
  providerId: text,
  /** Of a sub-flow its alias, of an authenticator what people call it. */
  displayName: text,
  /** Of an authenticator the alias of its configuration; a sub-flow has none. */
  alias: text,
  flowId: text,
  authenticationFlow: flag,
  /** The id of the configuration. */
  authenticationConfig: text,
  priority: z.int().nullish(),
});
export type ExecutionRow = z.output<typeof executionRowSchema>;
export const executionRowsSchema = z.array(executionRowSchema);

/** A top level flow of `GET …/authentication/flows`. */
export const flowSchema = z.looseObject({
  id: z.string().min(1),
  alias: z.string().min(1),
  description: text,
  topLevel: z.boolean(),
  builtIn: z.boolean(),
  providerId: z.string(),
  /** Its own executions, not those of its sub-flows. */
  authenticationExecutions: z.array(z.looseObject({})).nullish(),
});
export type FlowRepresentation = z.output<typeof flowSchema>;
export const flowsSchema = z.array(flowSchema);

/** `GET …/authentication/config/{id}`. */
export const authenticatorConfigSchema = z.looseObject({
  id: z.string().min(1),
  alias: text,
  config: z.record(z.string(), z.string().nullable()).nullish(),
});
export type AuthenticatorConfig = z.output<typeof authenticatorConfigSchema>;

/** An entry of `GET …/authentication/required-actions`. */
export const requiredActionSchema = z.looseObject({
  alias: z.string().min(1),
  name: text,
  providerId: text,
  enabled: z.boolean(),
  defaultAction: z.boolean(),
  priority: z.int().nullish(),
  config: z.record(z.string(), z.string().nullable()).nullish(),
});
export type RequiredAction = z.output<typeof requiredActionSchema>;
export const requiredActionsSchema = z.array(requiredActionSchema);

/** An entry of `GET …/authentication/unregistered-required-actions`. */
export const unregisteredActionsSchema = z.array(z.looseObject({ providerId: z.string().min(1), name: text }));
export type UnregisteredAction = z.output<typeof unregisteredActionsSchema>[number];

/** An entry of `GET …/authentication/authenticator-providers`. */
export const authenticatorProvidersSchema = z.array(z.looseObject({ id: z.string().min(1) }));

/**
 * `GET /admin/realms/{realm}`. A caller without `view-realm` is answered with little more than the name, so that the
 * fields that are decided by must be there: their absence says nothing about the realm.
 */
export const realmSchema = z.looseObject({
  realm: z.string().min(1),
  id: z.string().min(1),
  browserFlow: z.string().min(1),
  directGrantFlow: text,
  resetCredentialsFlow: text,
  registrationFlow: text,
  clientAuthenticationFlow: text,
  dockerAuthenticationFlow: text,
  firstBrokerLoginFlow: text,
  webAuthnPolicyPasswordlessRpEntityName: z.string(),
  attributes: z.record(z.string(), z.string().nullable()).nullish(),
  adminEventsEnabled: flag,
  adminEventsDetailsEnabled: flag,
});
export type RealmRepresentation = z.output<typeof realmSchema>;

/** An entry of `GET …/clients`. */
export const clientSchema = z.looseObject({
  id: z.string().min(1),
  clientId: z.string().min(1),
  authenticationFlowBindingOverrides: z.record(z.string(), z.string().nullable()).nullish(),
});
export type ClientRepresentation = z.output<typeof clientSchema>;
export const clientsSchema = z.array(clientSchema);

/** An entry of `GET …/identity-provider/instances`. */
export const identityProviderSchema = z.looseObject({
  alias: z.string().min(1),
  firstBrokerLoginFlowAlias: text,
  postBrokerLoginFlowAlias: text,
});
export type IdentityProvider = z.output<typeof identityProviderSchema>;
export const identityProvidersSchema = z.array(identityProviderSchema);

/** An entry of `GET …/admin-events`. Representations are there only where the realm keeps details. */
export const adminEventSchema = z.looseObject({
  /** Epoch milliseconds by the server's clock. */
  time: z.number(),
  operationType: z.string(),
  resourceType: text,
  resourcePath: text,
  representation: text,
  authDetails: z.looseObject({ realmId: text, clientId: text, userId: text, ipAddress: text }).nullish(),
});
export type AdminEvent = z.output<typeof adminEventSchema>;
export const adminEventsSchema = z.array(adminEventSchema);

/** `GET /admin/serverinfo`, of which only the version is read. Who has no role of a realm is told none. */
export const serverInfoSchema = z.looseObject({ systemInfo: z.looseObject({ version: z.string().min(1) }) });

/**
 * An answer held against its form. What does not have it is not measured: an HTML page of a proxy, a list cut short in
 * its middle, a field of another type.
 *
 * @param what what was asked for, such as `GET /admin/realms/shop`
 * @param answer the parsed body
 */
export function readAs<Schema extends z.ZodType>(
  schema: Schema,
  answer: unknown,
  what: string,
): Reading<z.output<Schema>> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return read(parsed.data);
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? 'the answer' : issue.path.join('.');
  return unmeasured(what, 'Keycloak', 'unparsed', `${what} answered in a form that is not known: ${where}`);
}
