import type { Session } from '../../activities/keycloak/dependencies.ts';
import { findProbeClient, readProbeClient } from '../../activities/keycloak/probe-client.ts';
import { unfitness } from '../../activities/keycloak/prove-login.ts';
import type { Mode } from '../../domain/core/mode.ts';
import { fail, pass, type Verdict } from '../../domain/core/verdict.ts';
import { probeAim } from '../../domain/keycloak-flow/probe-client.ts';
import { proofChecks, proofRoles, requiredChecks, roleFor } from '../../domain/keycloak-flow/proof.ts';
import type { ClientRepresentation } from '../../domain/keycloak-flow/representation.ts';
import type { KeycloakFlowSpec, Probe } from '../../domain/keycloak-flow/spec.ts';
import { desiredTree } from '../../domain/keycloak-flow/tree.ts';
import type { Check } from './check.ts';
import type { ExaminedFlow, FlowDependencies } from './keycloak-checks.ts';

/**
 * Whether logins can be shown before a bind: the probe client, what the service account may do with it, and what the
 * probe users log in with. Whether the users are there is not asked, since nothing under users is ever read: the proof
 * itself shows it, and each try costs them a failed login.
 */
export async function probeChecks(
  title: string,
  dependencies: FlowDependencies,
  session: Session,
  { name, spec, mode }: ExaminedFlow,
): Promise<readonly Check[]> {
  const { probe } = spec;
  if (probe === undefined) {
    const said = 'the spec names none: no login is shown before a bind, and each approval has to say --without-proof';
    return [{ name: `${title}: probe`, verdict: pass(said), fix: null }];
  }
  return [
    {
      name: `${title}: probe client`,
      verdict: await clientVerdict(session, name, probe, mode),
      fix: `docs/keycloak-flow.md says how the probe client "${probe.client}" is made, step by step`,
    },
    {
      name: `${title}: probe users`,
      verdict: await usersVerdict(dependencies, spec, probe),
      fix: 'name what they log in with under secrets: in the worker configuration (--config), and the users in spec.probe.users',
    },
  ];
}

async function clientVerdict(session: Session, name: string, probe: Probe, mode: Mode): Promise<Verdict> {
  const flows = await session.reader.flows();
  if (flows.kind === 'unmeasured') return flows;
  const found = await findProbeClient(session, probe.client, flows.value, name);
  if (found.kind === 'unmeasured') return found.why === 'missing' ? fail('NoProbeClient', found.message) : found;
  const client = await readProbeClient(session, found.value);
  if (client.kind === 'unmeasured') return client;
  const unfit = unfitness(client.value);
  if (unfit !== null) return fail('ProbeClientUnfit', `client "${probe.client}" ${unfit}`);
  if (probeAim(client.value, found.value.ours) === 'foreign') {
    return fail('ProbeClientInUse', `client "${probe.client}" is aimed at a flow that was not built from here`);
  }
  if (!allowsRedirect(client.value, probe.redirectUri)) {
    return fail('RedirectUri', `client "${probe.client}" does not allow ${probe.redirectUri}`);
  }
  if (manages(client.value)) return pass(`client "${probe.client}" is there, and its override may be written`);
  const message = `the service account may not manage client "${probe.client}", so that no proof can be made; give it the scopes view and manage of this client alone, by a fine-grained admin permission`;
  return mode === 'Enforce'
    ? fail('MayNotManage', message)
    : pass(`client "${probe.client}" is there; Enforce would also need: ${message}`);
}

function allowsRedirect({ redirectUris }: ClientRepresentation, uri: string): boolean {
  if (!Array.isArray(redirectUris)) return false;
  return redirectUris.some(
    (allowed) =>
      typeof allowed === 'string' &&
      (allowed === uri || (allowed.endsWith('*') && uri.startsWith(allowed.slice(0, -1)))),
  );
}

/** Keycloak says with each client what the asker may do with it. */
function manages({ access }: ClientRepresentation): boolean {
  return typeof access === 'object' && access !== null && 'manage' in access && access.manage === true;
}

async function usersVerdict(
  { secret }: FlowDependencies,
  { desired }: KeycloakFlowSpec,
  { users }: Probe,
): Promise<Verdict> {
  const roles = proofRoles.filter((role) => users[role] !== undefined);
  const names = [...new Set(Object.values(users).flatMap((user) => Object.values(user ?? {})))];
  for (const name of names) {
    const value = await secret(name);
    if (value.kind === 'unmeasured') {
      const message = `secret "${name}": ${value.message}`;
      return value.why === 'missing' ? fail('SecretMissing', message) : { ...value, message };
    }
  }
  const checks = requiredChecks(desiredTree(desired), roles);
  const nobody = checks.filter((check) => roleFor(check, roles) === null);
  if (nobody.length > 0) {
    const said = nobody.map((check) => `${proofChecks[check].what} (${proofChecks[check].roles.join(' or ')})`);
    return fail('UserMissing', `nobody can show the login of ${said.join(', ')}, so that no proof passes`);
  }
  return pass(`${roles.join(', ')}: what they log in with is there; whether the users are is shown by the proof alone`);
}
