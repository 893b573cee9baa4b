import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import type { Person } from '../lab/browser.ts';
import { GaveUp, waitFor } from '../lab/wait.ts';

/** What a person sees in the browser, by what there is to fill in or to press. */
export type Sight =
  | 'code'
  | 'denied'
  | 'username'
  | 'password'
  | 'otp'
  | 'passkey'
  | 'passkeyFailed'
  | 'enrolPasskey'
  | 'enrolOtp'
  | 'choice'
  | 'error';

/** Which client a person logs in to, and where. */
export interface LoginPlace {
  /** Of the server, by the name `localhost`, since passkeys need https or that name. */
  readonly url: string;
  readonly realm: string;
  readonly clientId: string;
  /** Nobody answers there: the browser's own request ends at the test. */
  readonly redirectUri: string;
}

/** Somebody on the way through the pages of a login. */
export interface BrowserLogin {
  /** The page that is there, once there is one. */
  sees(): Promise<Sight>;
  /** Fills the fields in and submits; waits for the page that answers. @returns what it is */
  gives(fields: Readonly<Record<string, string>>): Promise<Sight>;
  /** Presses the button for the passkey. */
  takesPasskey(): Promise<Sight>;
  /** Presses "Try another way" and takes what is called that. */
  takesInstead(what: 'Password' | 'Passkey'): Promise<Sight>;
}

/** Opens the login of a client, as that client would send a person there (RFC 6749 4.1.1, RFC 7636). */
export async function openLogin(
  { page, context }: Person,
  { url, realm, clientId, redirectUri }: LoginPlace,
): Promise<BrowserLogin> {
  await context.route(`${redirectUri}*`, (route) => route.fulfill({ body: '<html><body>there</body></html>' }));
  const query = new URLSearchParams({
    response_type: 'code',
    scope: 'openid',
    client_id: clientId,
    redirect_uri: redirectUri,
    state: randomBytes(8).toString('hex'),
    code_challenge: randomBytes(32).toString('base64url'),
    code_challenge_method: 'S256',
  });
  // A page that is not in front is given no passkey.
  await page.bringToFront();
  await page.goto(`${url}/realms/${realm}/protocol/openid-connect/auth?${query.toString()}`);
  const look = () => sight(page, redirectUri);

  /** Does something that loads a page, and waits for that page. */
  async function then(act: () => Promise<unknown>): Promise<Sight> {
    await page.evaluate("document.documentElement.setAttribute('data-before', '')");
    await act();
    return waitFor('the next page of the login', async () => {
      if (page.isClosed()) throw new GaveUp('the page was closed');
      // A page that is being left can be asked nothing.
      const old = await page.locator('html[data-before]').count();
      if (old > 0) return null;
      // Before that its buttons do nothing.
      await page.waitForLoadState('load');
      return look();
    });
  }

  return {
    sees: () => waitFor('a page of the login', look),
    gives: (fields) =>
      then(async () => {
        for (const [name, value] of Object.entries(fields)) await page.locator(`input[name="${name}"]`).fill(value);
        await page.locator('input[type="submit"], button[type="submit"]').first().click();
      }),
    takesPasskey: () => then(() => page.locator('#authenticateWebAuthnButton, #registerWebAuthn').click()),
    takesInstead: async (what) => {
      await then(() => page.locator('#try-another-way').click());
      const heading = page.getByRole('heading', { name: what, exact: true });
      return then(() => page.locator('[role="button"]', { has: heading }).click());
    },
  };
}

const sights = [
  ['otp', '#kc-otp-login-form'],
  ['enrolOtp', '#kc-totp-settings-form'],
  ['enrolPasskey', '#registerWebAuthn'],
  ['passkey', '#authenticateWebAuthnButton'],
  ['choice', '#kc-select-credential-form'],
  ['error', '#kc-error-message'],
  ['passkeyFailed', '#kc-error-credential-form'],
  ['username', '#kc-form-login input[name="username"]:not([type="hidden"])'],
  ['password', '#kc-form-login input[name="password"]:not([type="hidden"])'],
] as const satisfies readonly (readonly [Sight, string])[];

/** Null while there is none that is known. */
async function sight(page: Page, redirectUri: string): Promise<Sight | null> {
  const at = page.url();
  if (at.startsWith(redirectUri)) return new URL(at).searchParams.has('code') ? 'code' : 'denied';
  for (const [name, selector] of sights) {
    if ((await page.locator(selector).count()) > 0) return name;
  }
  return null;
}
