import { openSession, type Session } from '../../activities/keycloak/dependencies.ts';
import { serverVersion } from '../../activities/keycloak/reads.ts';
import { placeOf, readSwitch } from '../../activities/keycloak/read-switch.ts';
import type { Mode } from '../../domain/core/mode.ts';
import { isUnmeasured, fail, pass, unmeasured, type Reading, type Verdict } from '../../domain/core/verdict.ts';
import { judgeRoles, neededRoles } from '../../domain/keycloak-flow/needed-roles.ts';
import type { RealmRepresentation } from '../../domain/keycloak-flow/representation.ts';
import type { SwitchReading } from '../../domain/keycloak-flow/bind-switch.ts';
import type { BindSource, KeycloakFlowSpec } from '../../domain/keycloak-flow/spec.ts';
import type { keycloakFlowDependencies } from '../../worker/keycloak-flow-activities.ts';
import type { Check } from './check.ts';
import { probeChecks } from './probe-checks.ts';

/** What login flows reach the world through. */
export type FlowDependencies = ReturnType<typeof keycloakFlowDependencies>;

/** A KeycloakFlow that is to work. */
export interface ExaminedFlow {
  readonly name: string;
  readonly spec: KeycloakFlowSpec;
  /** What is to be possible. */
  readonly mode: Mode;
}

/** Versions on which this was tried; others may answer in other forms, which is noticed and never guessed. */
const tried = /^26\./;

/**
 * Everything that one KeycloakFlow needs of its server, from here and as its service account. Only reads, through the
 * same client as the worker.
 */
export async function keycloakChecks(dependencies: FlowDependencies, flow: ExaminedFlow): Promise<readonly Check[]> {
  const { name, spec, mode } = flow;
  const title = `keycloakflow/${name}`;
  const signal = new AbortController().signal;
  // Whatever is to be possible, nothing is written from here.
  const session = openSession(dependencies, { ...spec, mode: 'Observe' }, signal);
  if (isUnmeasured(session)) {
    const fix = 'add it under keycloak: in the worker configuration (--config), or change spec.server';
    return [{ name: `${title}: server`, verdict: fail('UnknownServer', session.message), fix }];
  }
  const version = await serverVersion(session.client, session.scope, signal);
  const realm = await session.reader.realm();
  const reached = session.client.userId() !== null || realm.kind === 'read' || version.kind === 'read';
  const bindSwitch = await readSwitch(dependencies, spec.bind ?? null, signal);
  const checks: Check[] = [
    {
      name: `${title}: server`,
      verdict: versionVerdict(session.client.url, version, reached),
      fix: serverFix(spec.server),
    },
    {
      name: `${title}: bind switch`,
      verdict: switchVerdict(bindSwitch, spec.bind),
      fix: 'write true or false where spec.bind names it, or let the worker read it',
    },
  ];
  if (!reached) return checks;
  if (realm.kind === 'unmeasured' && realm.why === 'missing') {
    const verdict = fail('RealmMissing', `realm "${spec.desired.realm}": ${realm.message}`);
    const fix = 'correct the realm in the desired state, or the url of the server under keycloak: (--config)';
    return [...checks, { name: `${title}: realm`, verdict, fix }];
  }
  return [
    ...checks,
    rolesCheck(title, session, spec.desired.realm, mode),
    { name: `${title}: realm`, verdict: verdictOf(realm, () => `realm ${spec.desired.realm} is read`), fix: roleFix },
    ...(await inUseChecks(title, session, spec)),
    { name: `${title}: admin events`, verdict: await eventsVerdict(session, realm), fix: eventsFix },
    ...(await probeChecks(title, dependencies, session, flow)),
  ];
}

const roleFix =
  "grant the role to the client's service account: Clients, the client, Service accounts roles, Assign role, filter by clients, realm-management";
const eventsFix =
  'Realm settings, Events, Admin events settings: save events, and include their representation; without it a lost edit is not noticed';

function serverFix(server: string): string {
  return `look at keycloak.${server} in the worker configuration: url, caFile (the authority of its certificate), tokenRealm, clientId and clientSecret`;
}

/** That the version is not told is no failure: what is decided by is the forms of its answers. */
function versionVerdict(url: string, version: Reading<string>, reached: boolean): Verdict {
  const answers = `${url} answers, ${url.startsWith('https:') ? 'its certificate is trusted,' : 'without TLS,'} and gives tokens`;
  if (version.kind === 'read') {
    const untried = tried.test(version.value) ? '' : '; it was tried on 26.x, and others may answer in other forms';
    return pass(`${answers}; Keycloak ${version.value}${untried}`);
  }
  return reached ? pass(`${answers}; it does not tell its version`) : version;
}

function switchVerdict(bindSwitch: SwitchReading, source: BindSource | undefined): Verdict {
  switch (bindSwitch.kind) {
    case 'read':
      return pass(
        bindSwitch.value === 'absent'
          ? `absent${source === undefined ? '' : ` (${placeOf(source)})`}: people approve each candidate`
          : `it says ${bindSwitch.value}`,
      );
    case 'invalid':
      return fail('InvalidSwitch', bindSwitch.message);
    case 'unmeasured':
      return bindSwitch;
  }
}

function rolesCheck(title: string, { client }: Session, realm: string, mode: Mode): Check {
  const name = `${title}: roles`;
  const roles = client.roles(realm);
  if (roles === null) {
    const message = 'the token does not say which roles it has (a lightweight token?); the readings below show some';
    return { name, verdict: unmeasured(name, 'the token', 'empty', message), fix: roleFix };
  }
  const { lacking, spare } = judgeRoles(roles, mode);
  if (lacking.length > 0) {
    const said = lacking.map(({ role, why }) => `${role} (${why})`).join('; ');
    return { name, verdict: fail('RolesLacking', `for ${mode} it lacks: ${said}`), fix: roleFix };
  }
  const has = neededRoles(mode).map(({ role, why }) => `${role} (${why})`);
  const more = spare.length === 0 ? '' : `; nothing here needs ${spare.join(', ')}: take away what is not for Enforce`;
  return { name, verdict: pass(`it has what ${mode} needs: ${has.join('; ')}${more}`), fix: null };
}

/** Each list is asked for by itself, so that it is told which right is missing. */
async function inUseChecks(title: string, { reader }: Session, spec: KeycloakFlowSpec): Promise<Check[]> {
  const lists = [
    { what: 'flows', reading: await reader.flows() },
    { what: 'clients', reading: await reader.clients() },
    { what: 'identity providers', reading: await reader.identityProviders() },
  ];
  const checks = lists.map(({ what, reading }): Check => {
    const said = (entries: readonly unknown[]) => `${entries.length} read`;
    return { name: `${title}: ${what}`, verdict: verdictOf<readonly unknown[]>(reading, said), fix: roleFix };
  });
  if (lists.some(({ reading }) => reading.kind === 'unmeasured')) return checks;
  const { sets } = await reader.inUse(spec.probe?.client ?? null);
  const said = verdictOf(
    sets,
    ({ flows }) => `${flows.size} flows are in use, sub-flows counted, and are never written to`,
  );
  return [...checks, { name: `${title}: in use`, verdict: said, fix: roleFix }];
}

async function eventsVerdict({ reader }: Session, realm: Reading<RealmRepresentation>): Promise<Verdict> {
  const events = await reader.realmUpdates(1);
  if (events.kind === 'unmeasured') return events;
  if (realm.kind === 'unmeasured') return realm;
  if (realm.value.adminEventsEnabled !== true) return fail('NoAdminEvents', 'the realm keeps no admin events');
  if (realm.value.adminEventsDetailsEnabled !== true) {
    return fail('NoEventDetails', 'the realm keeps admin events without what was changed');
  }
  return pass('the realm keeps admin events, with what was changed');
}

function verdictOf<T>(reading: Reading<T>, said: (value: T) => string): Verdict {
  if (reading.kind === 'read') return pass(said(reading.value));
  // That it may not is the server's own word.
  return reading.why === 'denied' ? fail('Denied', reading.message) : reading;
}
