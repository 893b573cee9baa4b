import { randomBytes } from 'node:crypto';
import { read, unmeasured, type Reading } from '../../domain/core/verdict.ts';
import {
  proofRoles,
  roleFor,
  type LoginEnd,
  type ProofCheckName,
  type ProofReadings,
  type ProofRole,
} from '../../domain/keycloak-flow/proof.ts';
import { sleep } from '../wait-context.ts';
import type { KeycloakFlowDependencies, Session } from './dependencies.ts';
import { logIn, type LoginAttempt } from './login.ts';
import type { ProveInput } from './port.ts';
import { decodeBase32, totpPolicy } from './totp.ts';

/** What of a probe user's is given in each check. */
const given = {
  usernameAlone: { password: 'none', otp: false },
  wrongPassword: { password: 'wrong', otp: false },
  memberLogsIn: { password: 'own', otp: false },
  missingSecondFactor: { password: 'own', otp: false },
  administratorLogsIn: { password: 'own', otp: true },
  bareAdministrator: { password: 'own', otp: false },
} as const satisfies Record<ProofCheckName, { readonly password: 'none' | 'wrong' | 'own'; readonly otp: boolean }>;

/** Nodes of one Keycloak hear of the override within this many readings. */
const mostOpenings = 5;

/**
 * Tries the logins that a proof is made of, one after the other, each as a browser that was never there. The one with a
 * wrong password counts as a failed login of its user; the login after it that succeeds takes that back.
 *
 * @param executions ids of the candidate's executions
 */
export async function tryLogins(
  dependencies: KeycloakFlowDependencies,
  session: Session,
  input: ProveInput,
  executions: ReadonlySet<string>,
): Promise<ProofReadings> {
  const secrets = readSecrets(dependencies);
  const readings: Partial<Record<ProofCheckName, Reading<LoginEnd>>> = {};
  for (const check of input.command.checks) {
    const attempt = await attemptOf(check, session, input, executions, secrets);
    readings[check] = attempt.kind === 'read' ? await tryLogin(session, attempt.value) : attempt;
  }
  return readings;
}

/** One that went through another flow is tried again: another node may not have heard of the override yet. */
async function tryLogin(session: Session, attempt: LoginAttempt): Promise<Reading<LoginEnd>> {
  const { client, signal, clock, rereadAfterMs } = session;
  let end: Reading<LoginEnd> = unmeasured('a login', 'Holdfast', 'empty', 'it was not tried');
  for (let count = 0; count < mostOpenings; count++) {
    if (count > 0) await sleep(rereadAfterMs, signal);
    end = await logIn({ browse: (...asked) => client.browse(...asked), signal, clock }, attempt);
    if (end.kind === 'read' || end.why !== 'not-ready') return end;
  }
  return end;
}

async function attemptOf(
  check: ProofCheckName,
  { reader, scope }: Session,
  { probe }: ProveInput,
  executions: ReadonlySet<string>,
  secret: SecretReader,
): Promise<Reading<LoginAttempt>> {
  const { users } = probe;
  const role = roleFor(
    check,
    proofRoles.filter((known) => users[known] !== undefined),
  );
  const user = role === null ? undefined : users[role];
  if (role === null || user === undefined) {
    return unmeasured('a probe user', 'Holdfast', 'missing', 'probe.users names nobody who could log in like that');
  }
  const username = await secret(role, 'username', user.username);
  if (username.kind === 'unmeasured') return username;
  const own = await secret(role, 'password', user.password);
  if (own.kind === 'unmeasured') return own;
  const wants = given[check];
  const attempt: LoginAttempt = {
    realm: scope.realm,
    clientId: probe.client,
    redirectUri: probe.redirectUri,
    executions,
    username: username.value,
    password: passwordFor(wants.password, own.value),
    otp: null,
  };
  if (!wants.otp || users.administrator === undefined) return read(attempt);

  const text = await secret(role, 'totp', users.administrator.totp);
  if (text.kind === 'unmeasured') return text;
  const key = decodeBase32(text.value);
  if (key === null) {
    const message = `the totp of the ${role} is no base32: give the secret that an authenticator app is given`;
    return unmeasured('a probe user', 'this worker', 'unparsed', message);
  }
  const realm = await reader.realm();
  if (realm.kind === 'unmeasured') return realm;
  const policy = totpPolicy(realm.value);
  return policy.kind === 'unmeasured' ? policy : read({ ...attempt, otp: { key, policy: policy.value } });
}

/** A wrong one is made up anew each time, so that it is nobody's. */
function passwordFor(kind: 'none' | 'wrong' | 'own', own: string): string | null {
  if (kind === 'none') return null;
  return kind === 'own' ? own : randomBytes(18).toString('base64url');
}

type SecretReader = (role: ProofRole, what: string, name: string) => Promise<Reading<string>>;

function readSecrets({ secret }: KeycloakFlowDependencies): SecretReader {
  return async (role, what, name) => {
    const from = `the ${what} of the probe's ${role}`;
    if (secret === undefined) return unmeasured(from, 'this worker', 'missing', 'this worker has no secrets');
    const found = await secret(name);
    if (found.kind === 'read') return found;
    return unmeasured(from, 'this worker', found.why, `${from}, secret "${name}": ${found.message}`);
  };
}
