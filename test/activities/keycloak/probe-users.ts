import { randomBytes } from 'node:crypto';
import type { Probe } from '../../../src/domain/keycloak-flow/spec.ts';
import type { FlowRig, RealmUnderTest } from './flow-rig.ts';

/** What an operator creates for a proof, and names in the spec. */
export const probe: Probe = {
  client: 'holdfast-probe',
  // Nobody answers there, and nobody is to ask.
  redirectUri: 'https://probe.invalid/callback',
  users: {
    member: { username: 'member-name', password: 'member-password' },
    administrator: { username: 'admin-name', password: 'admin-password', totp: 'admin-totp' },
    bareAdministrator: { username: 'bare-name', password: 'bare-password' },
  },
};

/** Of the realm: a short period, since a code that was used is waited out. Keycloak takes all of it or none. */
export const otpPolicy = {
  otpPolicyType: 'totp',
  otpPolicyAlgorithm: 'HmacSHA1',
  otpPolicyDigits: 6,
  otpPolicyInitialCounter: 0,
  otpPolicyLookAheadWindow: 1,
  otpPolicyPeriod: 10,
};

export interface ProbeUser {
  readonly id: string;
  readonly username: string;
  readonly password: string;
}

export interface ProbeUsers {
  readonly clientId: string;
  readonly member: ProbeUser;
  readonly administrator: ProbeUser;
  readonly bareAdministrator: ProbeUser;
  /** Base32. */
  readonly totp: string;
}

/** Creates the probe client and its three users in a realm, and gives their secrets to the rig's worker. */
export async function createProbeUsers(rig: Pick<FlowRig, 'realm' | 'secrets'>): Promise<ProbeUsers> {
  const { realm, secrets } = rig;
  await realm.ask('POST', '/roles', { name: 'platform-admin' });
  const role = await realm.ask('GET', '/roles/platform-admin');
  await realm.ask('POST', '/clients', {
    clientId: probe.client,
    publicClient: true,
    standardFlowEnabled: true,
    directAccessGrantsEnabled: false,
    redirectUris: [probe.redirectUri],
    attributes: { 'pkce.code.challenge.method': 'S256' },
  });
  const [client] = await realm.ask<{ id: string }[]>('GET', `/clients?clientId=${probe.client}`);
  const key = randomBytes(10).toString('hex');
  const otp = {
    type: 'otp',
    secretData: JSON.stringify({ value: key }),
    credentialData: JSON.stringify({
      subType: 'totp',
      digits: 6,
      counter: 0,
      period: otpPolicy.otpPolicyPeriod,
      algorithm: 'HmacSHA1',
    }),
  };
  const member = await createUser(realm, 'member', []);
  const administrator = await createUser(realm, 'administrator', [otp]);
  const bareAdministrator = await createUser(realm, 'bare', []);
  for (const { id } of [administrator, bareAdministrator]) {
    await realm.ask('POST', `/users/${id}/role-mappings/realm`, [role]);
  }
  const totp = base32(Buffer.from(key));
  const values = {
    'member-name': member.username,
    'member-password': member.password,
    'admin-name': administrator.username,
    'admin-password': administrator.password,
    'admin-totp': totp,
    'bare-name': bareAdministrator.username,
    'bare-password': bareAdministrator.password,
  };
  for (const [name, value] of Object.entries(values)) secrets.set(name, value);
  return { clientId: client?.id ?? '', member, administrator, bareAdministrator, totp };
}

/**
 * Lets the service account manage the probe client and no other, as an operator would: a fine-grained admin permission
 * (Keycloak 26.2 and later), in a realm with `adminPermissionsEnabled`.
 *
 * @param id of the probe client
 */
export async function allowProbeClient(realm: RealmUnderTest, id: string): Promise<void> {
  const idOf = async (clientId: string) => {
    const [client] = await realm.ask<{ id: string }[]>('GET', `/clients?clientId=${clientId}`);
    return client?.id ?? '';
  };
  const account = await realm.ask<{ id: string }>('GET', `/clients/${await idOf(realm.clientId)}/service-account-user`);
  const server = `/clients/${await idOf('admin-permissions')}/authz/resource-server`;
  const policy = await realm.ask<{ id: string }>('POST', `${server}/policy/user`, {
    name: 'holdfast',
    users: [account.id],
  });
  await realm.ask('POST', `${server}/permission/scope`, {
    name: 'the probe client',
    resourceType: 'Clients',
    resources: [id],
    scopes: ['view', 'manage'],
    policies: [policy.id],
  });
}

async function createUser(realm: RealmUnderTest, kind: string, credentials: readonly unknown[]): Promise<ProbeUser> {
  const username = `${kind}-${randomBytes(5).toString('hex')}`;
  const password = randomBytes(12).toString('base64url');
  await realm.ask('POST', '/users', {
    username,
    enabled: true,
    // Without these Keycloak asks for the profile after the login.
    firstName: 'Probe',
    lastName: kind,
    email: `${username}@example.com`,
    emailVerified: true,
    credentials: [{ type: 'password', value: password, temporary: false }, ...credentials],
  });
  const [user] = await realm.ask<{ id: string }[]>('GET', `/users?username=${username}&exact=true`);
  return { id: user?.id ?? '', username, password };
}

export function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(group.padEnd(5, '0'), 2)]).join('');
}
