import type { Kinds } from '../domain/core/spec-file.ts';
import { keycloakFlowOnFile } from '../domain/keycloak-flow/spec-on-file.ts';
import { nodeRebootOnFile } from '../domain/node-reboot/spec-on-file.ts';
import { releaseSpec } from '../domain/release/spec.ts';
import type { KindName } from './kind-names.ts';

/** The schema of each kind's `spec`. */
export const kinds = {
  Release: releaseSpec,
  KeycloakFlow: keycloakFlowOnFile,
  NodeReboot: nodeRebootOnFile,
} satisfies Kinds & Record<KindName, unknown>;

/** What each kind is for, in one sentence. */
export const kindDescriptions: Readonly<Record<KindName, string>> = {
  Release: 'Canary release of one image across a fleet, with Holdfast as the single writer of that image.',
  NodeReboot: 'Nodes that want a reboot, one after the other: gated on what the next one would break, and proven.',
  KeycloakFlow: 'The login flow of a realm: built beside the live one, shown by logins, and bound when told.',
};
