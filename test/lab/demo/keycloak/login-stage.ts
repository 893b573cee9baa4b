import type { Probe } from '../../../../src/domain/keycloak-flow/spec.ts';
import type { HeldPlace, HeldUser } from '../../../activities/keycloak/held-login.ts';
import type { TestRealm } from '../../keycloak-realm.ts';
import type { LabEnv } from '../../lab.ts';

/** Where the story of a login plays. Plain data, but for the realm's administrator. */
export interface LoginStage {
  readonly lab: LabEnv;
  readonly realm: TestRealm;
  /** Of Temporal. */
  readonly namespace: string;
  /** Name of the KeycloakFlow. */
  readonly flow: string;
  /** Of this run: the worker's configuration and the flow's file. */
  readonly folder: string;
  readonly specFile: string;
  readonly worker: string;
  readonly probe: Probe;
  /** Id of the probe client. */
  readonly probeClient: string;
  /** People of the realm, and the application that they log in to. */
  readonly place: HeldPlace;
  readonly member: HeldUser;
  /** Has a password, and no second factor. */
  readonly administrator: HeldUser;
  /** Epoch milliseconds; what happened before is the set-up. */
  readonly since: number;
}

/** How many rows the declared tree has. */
export const ROWS = 11;
