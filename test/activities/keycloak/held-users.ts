import { randomBytes } from 'node:crypto';
import { createSoftwarePasskey, type SoftwarePasskey } from '../../lab/software-passkey.ts';
import type { RealmUnderTest } from './flow-rig.ts';
import {
  heldPages,
  holdLogin,
  type HeldEnd,
  type HeldLogin,
  type HeldPage,
  type HeldPlace,
  type HeldUser,
} from './held-login.ts';
import { base32, otpPolicy } from './probe-users.ts';

/** Of the realm: a one-time password may be used by many logins of one user at once, and passwords are hashed quickly. */
export const heldRealm = {
  ...otpPolicy,
  otpPolicyCodeReusable: true,
  passwordPolicy: 'hashAlgorithm(pbkdf2-sha256) and hashIterations(1)',
};

/** Whoever is held at a page, is a user who is shown that page by the example tree. */
export type HeldUsers = Readonly<Record<HeldPage, HeldUser>>;

/** Creates the users and an application that they log in to. @param rpId of the realm's policy */
export async function createHeldUsers(
  realm: RealmUnderTest,
  rpId: string,
): Promise<{ readonly users: HeldUsers; readonly place: HeldPlace }> {
  const redirectUri = 'https://application.invalid/callback';
  await realm.ask('POST', '/clients', {
    clientId: 'shop-web',
    publicClient: true,
    standardFlowEnabled: true,
    redirectUris: [redirectUri],
  });
  await realm.ask('POST', '/roles', { name: 'platform-admin' });
  const member = await createUser(realm, {});
  const administrator = await createUser(realm, { otp: true });
  await realm.ask('POST', `/users/${administrator.id}/role-mappings/realm`, [
    await realm.ask('GET', '/roles/platform-admin'),
  ]);
  const passkey = await createUser(realm, { passkey: createSoftwarePasskey(rpId) });
  return {
    users: { username: member, password: member, otp: administrator, passkey },
    place: { url: realm.url, realm: realm.realm, clientId: 'shop-web', redirectUri },
  };
}

async function createUser(
  realm: RealmUnderTest,
  { otp = false, passkey = null }: { readonly otp?: boolean; readonly passkey?: SoftwarePasskey | null },
): Promise<HeldUser> {
  const username = `u-${randomBytes(5).toString('hex')}`;
  const password = randomBytes(12).toString('base64url');
  const key = randomBytes(10).toString('hex');
  const credentialData = {
    subType: 'totp',
    digits: 6,
    counter: 0,
    period: otpPolicy.otpPolicyPeriod,
    algorithm: 'HmacSHA1',
  };
  await realm.ask('POST', '/users', {
    username,
    enabled: true,
    // Without these Keycloak asks for the profile after the login.
    firstName: 'Held',
    lastName: 'Login',
    email: `${username}@example.com`,
    emailVerified: true,
    credentials: [
      // What stands first is what is shown first.
      ...(passkey === null ? [] : [passkey.credential]),
      { type: 'password', value: password, temporary: false },
      ...(otp
        ? [
            {
              type: 'otp',
              secretData: JSON.stringify({ value: key }),
              credentialData: JSON.stringify(credentialData),
            },
          ]
        : []),
    ],
  });
  const [user] = await realm.ask<{ id: string }[]>('GET', `/users?username=${username}&exact=true`);
  return { id: user?.id ?? '', username, password, totp: otp ? base32(Buffer.from(key)) : null, passkey };
}

export type HeldCount = Readonly<Record<HeldEnd, number>>;

/** Logins that wait at each page. */
export interface HeldGroup {
  /** Lets all of them go on, some at a time. @returns how it went, by the page that they waited at */
  goOn(): Promise<Readonly<Record<HeldPage, HeldCount>>>;
}

/** As many as a small machine answers without a queue. */
const atOnce = 6;

/** @param each how many at each page */
export async function holdGroup(
  { users, place }: { readonly users: HeldUsers; readonly place: HeldPlace },
  each: number,
  pages: readonly HeldPage[] = heldPages,
): Promise<HeldGroup> {
  const wanted = pages.flatMap((page) => Array.from({ length: each }, () => page));
  const held = await someAtATime(wanted, async (page): Promise<[HeldPage, HeldLogin]> => [
    page,
    await holdLogin(place, users[page], page),
  ]);
  return {
    async goOn() {
      const counts = Object.fromEntries(heldPages.map((page) => [page, none()])) as Record<
        HeldPage,
        Record<HeldEnd, number>
      >;
      await someAtATime(held, async ([page, login]) => {
        counts[page][await login.goOn()] += 1;
      });
      return counts;
    },
  };
}

/** All pages together. */
export function sumOf(counts: Readonly<Record<HeldPage, HeldCount>>): HeldCount {
  const sum = none();
  for (const count of Object.values(counts)) {
    for (const end of Object.keys(sum) as HeldEnd[]) sum[end] += count[end];
  }
  return sum;
}

function none(): Record<HeldEnd, number> {
  return { completed: 0, askedAgain: 0, errorPage: 0, elsewhere: 0 };
}

async function someAtATime<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at] as T);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
