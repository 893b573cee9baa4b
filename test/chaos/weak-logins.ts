import { probe, type ProbeUsers } from '../activities/keycloak/probe-users.ts';
import type { TestRealm } from '../lab/keycloak-realm.ts';
import type { WeakLogin } from './login-sampler.ts';

/** A client that people log in to, beside the probe client. */
const app = { clientId: 'app', redirectUri: 'https://app.invalid/callback' };

/** Creates the client that the weak logins are tried at. */
export async function createApp(realm: TestRealm): Promise<void> {
  await realm.ask('POST', '/clients', {
    clientId: app.clientId,
    publicClient: true,
    standardFlowEnabled: true,
    redirectUris: [app.redirectUri],
  });
}

/**
 * What must never be enough, by the flow that is bound before and by the one that is declared: a username, and for an
 * administrator the password without the one-time password. The probe client is aimed at candidates, so that it is tried too.
 */
export function weakLogins({ member, administrator }: ProbeUsers): WeakLogin[] {
  const atProbe = { clientId: probe.client, redirectUri: probe.redirectUri };
  return [
    { who: 'a member with the username alone', ...app, username: member.username, password: null },
    {
      who: 'an administrator with the password alone',
      ...app,
      username: administrator.username,
      password: administrator.password,
    },
    { who: 'an administrator with the username alone', ...app, username: administrator.username, password: null },
    {
      who: 'an administrator with the password alone, at the probe client',
      ...atProbe,
      username: administrator.username,
      password: administrator.password,
    },
    {
      who: 'a member with the username alone, at the probe client',
      ...atProbe,
      username: member.username,
      password: null,
    },
  ];
}
