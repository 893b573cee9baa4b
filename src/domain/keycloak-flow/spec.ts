import { z } from 'zod';
import { approverSchema } from '../core/approver.ts';
import { duration } from '../core/duration.ts';
import { modeSchema } from '../core/mode.ts';
import { desiredStateSchema } from './desired.ts';
import { dnsLabel, dnsName } from '../core/kubernetes-name.ts';

/**
 * The spec of a KeycloakFlow as people keep it in git. Durations are written in Go's form and read as milliseconds. Its
 * `desired` is also kept in a file of its own, rendered from a realm import, and put here before the spec is read.
 */

/** Where the bind switch stands: apart from the spec, so that a person can turn it without a change in git. */
const bindSourceSchema = z.union([
  z.strictObject({
    configMap: z.strictObject({
      cluster: dnsName.default('default').describe("One of the worker's clusters."),
      namespace: dnsLabel,
      name: dnsName,
      key: z
        .string()
        .regex(/^[-._a-zA-Z0-9]+$/, 'expected a key of a ConfigMap')
        .max(253)
        .default('bind'),
    }),
  }),
  z.strictObject({ file: z.string().startsWith('/').max(1_000).describe('A file that the worker can read.') }),
]);

/** Secrets are named as the worker's configuration names them, and never stand here. */
const secretName = z
  .string()
  .regex(/^[A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?$/, "expected the name of one of the worker's secrets")
  .max(200);

const probeUserSchema = z.strictObject({ username: secretName, password: secretName });

/** While a proof is made, its client goes through the candidate. */
const ownClient = /^(?!(account|account-console|admin-cli|broker|realm-management|security-admin-console)$)/;

const probeSchema = z.strictObject({
  client: z
    .string()
    .regex(/^[\w.:/-]+$/, 'expected the clientId of the probe client')
    .regex(ownClient, 'expected a client of its own: people log in through this one, which Keycloak makes with a realm')
    .max(255)
    .describe('A client that is there for the proof alone: its browser flow override is aimed at the candidate.'),
  redirectUri: z
    .url({ protocol: /^https?$/, hostname: /.+/ })
    .describe('One that the probe client allows; it is never opened.'),
  users: z
    .strictObject({
      member: probeUserSchema.optional().describe('Has a password, and is asked for nothing more.'),
      administrator: probeUserSchema
        .extend({ totp: secretName })
        .optional()
        .describe('Is asked for a second factor, and has an OTP whose secret (base32) is given.'),
      bareAdministrator: probeUserSchema.optional().describe('Is asked for a second factor, and has none.'),
    })
    .describe('A failed login counts for brute-force protection: use users that nobody else uses.'),
});

/** The `spec` of a KeycloakFlow document. */
export const keycloakFlowSpec = z.strictObject({
  mode: modeSchema.default('Shadow'),
  suspend: z.boolean().default(false).describe('Stops all passes.'),
  interval: duration({ min: 10_000, examples: ['15m'] })
    .prefault('15m')
    .describe('Between passes.'),
  server: dnsName.default('default').describe("One of the worker's configured Keycloak servers."),
  desired: desiredStateSchema,
  bind: bindSourceSchema
    .optional()
    .describe('Where true or false is read at each pass; without it, or where it is absent, people approve.'),
  probe: probeSchema
    .optional()
    .describe('Without it no login is shown before a bind, and each approval has to say so.'),
  approvers: z.array(approverSchema).min(1).max(100).optional(),
});

/** A KeycloakFlow's spec after parsing: defaults filled in, durations in milliseconds. Plain JSON. */
export type KeycloakFlowSpec = z.output<typeof keycloakFlowSpec>;
/** A KeycloakFlow's spec as written. */
export type KeycloakFlowSpecInput = z.input<typeof keycloakFlowSpec>;
export type BindSource = z.output<typeof bindSourceSchema>;
export type Probe = z.output<typeof probeSchema>;
