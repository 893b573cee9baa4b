import { z } from 'zod';
import { checkDesired } from './check-desired.ts';
import { policySchema } from './policy-keys.ts';

/** What Keycloak calls how an execution counts. */
export const requirements = ['REQUIRED', 'ALTERNATIVE', 'CONDITIONAL', 'DISABLED'] as const;
export type Requirement = (typeof requirements)[number];

/** The only required action that is managed: the enrolment of a passkey. */
export const enrolmentAction = 'webauthn-register-passwordless';

/** The execution with which people log in by passkey. */
export const passkeyAuthenticator = 'webauthn-authenticator-passwordless';

/**
 * Aliases become part of paths and grow by a suffix of up to sixteen characters; Keycloak refuses those of RFC 3986's
 * reserved characters (its `ReservedCharValidator`) and keeps 255 characters.
 */
const alias = z
  .string()
  .regex(
    /^[\p{L}\p{N}]([\p{L}\p{N} ._-]*[\p{L}\p{N}])?$/u,
    'expected an alias of letters, digits, spaces and . _ - which begins and ends with a letter or digit',
  )
  .max(200);

/** A script's own id is shown in another form than it is created with, so that no read back would ever match. */
const name = z
  .string()
  .regex(
    /^(?!script-)[\p{L}\p{N}]([\p{L}\p{N} ._-]*[\p{L}\p{N}])?$/u,
    'expected the alias of a sub-flow or the id of an authenticator (scripts cannot be managed), such as auth-cookie',
  )
  .max(200);

/**
 * The one authenticator of Keycloak (26.x) that is told of a flow by its alias. For an alias that is not there it says
 * that the sub-flow was not executed, without an error: a second factor behind it would never be asked.
 */
const asksByAlias = 'conditional-sub-flow-executed';

const executionSchema = z
  .strictObject({
    kind: z.enum(['flow', 'authenticator']),
    name: name.describe('The alias of a declared sub-flow, or the provider id of an authenticator.'),
    requirement: z.enum(requirements),
    configAlias: alias.optional().describe('The declared configuration of an authenticator.'),
  })
  .refine((e) => e.kind !== 'flow' || e.configAlias === undefined, {
    message: 'a sub-flow has no configuration; put configAlias on the authenticator that it is for',
    path: ['configAlias'],
  })
  .refine((e) => e.kind !== 'authenticator' || e.name !== asksByAlias, {
    message: `${asksByAlias} names a sub-flow by its alias, and those of a candidate have a suffix: it would never be met in a candidate, and what it guards never asked; use another condition`,
    path: ['name'],
  })
  .refine((e) => e.kind !== 'authenticator' || e.requirement !== 'CONDITIONAL', {
    message: 'CONDITIONAL is for sub-flows; an authenticator is REQUIRED, ALTERNATIVE or DISABLED',
    path: ['requirement'],
  });

const flowSchema = z.strictObject({
  topLevel: z.boolean().describe('True for the browser flow alone.'),
  executions: z.array(executionSchema).min(1).max(100),
});

const configValue = z
  .string({ error: (issue) => (issue.input === undefined ? undefined : notAString(issue.input)) })
  .min(1, 'expected a value: Keycloak drops empty ones')
  .max(4_000);

const configSchema = z
  .record(z.string().min(1).max(255), configValue)
  .refine((config) => Object.keys(config).length > 0, 'expected one key at least; remove the configuration otherwise');

const desiredFields = z.strictObject({
  realm: z
    .string()
    .regex(/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9_-])?$/, 'expected the name of a realm')
    .max(200),
  webAuthnPolicyPasswordless: policySchema,
  requiredAction: z
    .strictObject({
      alias: z.literal(enrolmentAction),
      enabled: z.literal(true),
      defaultAction: z.literal(false),
    })
    .nullable()
    .default(null)
    .describe('The enrolment of passkeys; null: not managed.'),
  browserFlow: alias.describe('The declared flow that people are to log in by.'),
  flows: z.record(alias, flowSchema).refine((flows) => Object.keys(flows).length <= 100, 'expected at most 100 flows'),
  authenticatorConfig: z.record(alias, configSchema).default({}),
});

/** The desired state after parsing. Plain JSON. */
export type DesiredState = z.output<typeof desiredFields>;
export type DesiredExecution = z.output<typeof executionSchema>;

/**
 * What a realm is to be, as people keep it in git beside the realm import it is rendered from. Strict: whatever could
 * only be noticed half-way through a build is refused here, before any request.
 */
export const desiredStateSchema = desiredFields.superRefine((desired, context) => {
  for (const { path, message } of checkDesired(desired)) context.addIssue({ code: 'custom', path, message });
});

/** Keycloak keeps texts: `false` is `"false"`, and never Python's or YAML's `"False"`. */
function notAString(input: unknown): string {
  const expected = 'expected a text, as Keycloak keeps it';
  if (typeof input === 'boolean' || typeof input === 'number')
    return `${expected}, got ${String(input)}: write "${String(input)}"`;
  return `${expected}, got ${input === null ? 'nothing' : `a ${Array.isArray(input) ? 'list' : 'map'}`}`;
}
