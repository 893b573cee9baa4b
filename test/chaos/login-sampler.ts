import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** A login that gives less than what is declared, and so must never come to a code. */
export interface WeakLogin {
  /** As in "an administrator with the password alone". */
  readonly who: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly username: string;
  /** Null where only the username is given. */
  readonly password: string | null;
}

/** How a login ended: with a code, at a page that asks for more, or at nothing that says either. */
export type WeakEnd =
  | { readonly kind: 'code' }
  | { readonly kind: 'asked'; readonly page: string }
  | { readonly kind: 'unread'; readonly why: string };

export interface SamplerReport {
  readonly attempts: number;
  /** Those that came to a page that asks for more: what the sampler has shown. */
  readonly asked: number;
  /** Who got a code, and when. */
  readonly codes: readonly string[];
  readonly unread: readonly string[];
  /** By who tried. */
  readonly by: Readonly<Record<string, number>>;
}

export interface LoginSampler {
  /** Each login once, now. What goes on in the background goes on. */
  round(): Promise<void>;
  /** Ends the background. */
  stop(): Promise<SamplerReport>;
}

/** More pages than any flow has. */
const mostPages = 10;

/**
 * Tries weak logins one after the other until it is stopped, past every proxy, each as a browser that was never there.
 * It shares nothing with the product's own login proof.
 *
 * @param url of Keycloak
 * @param pauseMs between two logins
 */
export function startLoginSampler(
  url: string,
  realm: string,
  logins: readonly WeakLogin[],
  pauseMs = 150,
): LoginSampler {
  const ends: { readonly who: string; readonly end: WeakEnd; readonly at: string }[] = [];
  const stopping = new AbortController();

  async function tryOne(login: WeakLogin): Promise<void> {
    const end = await weakLogin(url, realm, login);
    ends.push({ who: login.who, end, at: new Date().toISOString() });
  }

  async function goOn(): Promise<void> {
    for (let number = 0; !stopping.signal.aborted; number++) {
      const login = logins[number % logins.length];
      if (login === undefined) return;
      await tryOne(login);
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  const background = goOn();
  return {
    async round() {
      for (const login of logins) await tryOne(login);
    },
    async stop() {
      stopping.abort();
      await background;
      const by: Record<string, number> = {};
      for (const { who } of ends) by[who] = (by[who] ?? 0) + 1;
      return {
        attempts: ends.length,
        asked: ends.filter(({ end }) => end.kind === 'asked').length,
        codes: ends.flatMap(({ who, end, at }) => (end.kind === 'code' ? [`${who} got a code at ${at}`] : [])),
        unread: ends.flatMap(({ who, end, at }) => (end.kind === 'unread' ? [`${who} at ${at}: ${end.why}`] : [])),
        by,
      };
    },
  };
}

/** One login. Every fault is an end like any other, so that none of them stops the sampler. */
export async function weakLogin(url: string, realm: string, login: WeakLogin): Promise<WeakEnd> {
  try {
    return await browse(url, realm, login);
  } catch (error) {
    return { kind: 'unread', why: error instanceof Error ? error.message : String(error) };
  }
}

async function browse(url: string, realm: string, login: WeakLogin): Promise<WeakEnd> {
  const query = new URLSearchParams({
    response_type: 'code',
    scope: 'openid',
    client_id: login.clientId,
    redirect_uri: login.redirectUri,
    state: randomBytes(8).toString('hex'),
    code_challenge: createHash('sha256').update(randomBytes(32).toString('base64url')).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const cookies = new Map<string, string>();
  const given = { username: false, password: false };
  let [target, form] = [`${url}/realms/${realm}/protocol/openid-connect/auth?${query.toString()}`, noForm];
  for (let count = 0; count < mostPages; count++) {
    const answer = await fetch(target, {
      method: form === null ? 'GET' : 'POST',
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form === null ? {} : { body: form }),
      signal: AbortSignal.timeout(30_000),
    });
    keep(cookies, answer.headers.getSetCookie());
    const text = await answer.text();
    if (answer.status >= 300 && answer.status < 400) {
      const to = new URL(answer.headers.get('location') ?? '', target);
      if (to.href.startsWith(login.redirectUri)) {
        return to.searchParams.has('code')
          ? { kind: 'code' }
          : { kind: 'asked', page: to.searchParams.get('error') ?? '?' };
      }
      [target, form] = [to.href, noForm];
      continue;
    }
    const page = readPage(text);
    if (page === null) return { kind: 'unread', why: `an unknown page, with ${answer.status}` };
    const asks = { username: page.fields.has('username'), password: page.fields.has('password') };
    const answers = answersTo(asks, given, login);
    if (answers === null) return { kind: 'asked', page: [...page.fields].join(' ') };
    [target, form] = [new URL(page.action, target).href, new URLSearchParams(answers)];
  }
  return { kind: 'unread', why: `no end within ${mostPages} pages` };
}

const noForm: URLSearchParams | null = null;

/** What is filled in; null where there is nothing left to give. Each factor is given once. */
function answersTo(
  asks: { readonly username: boolean; readonly password: boolean },
  given: { username: boolean; password: boolean },
  { username, password }: WeakLogin,
): Record<string, string> | null {
  if (asks.username && !given.username) {
    given.username = true;
    if (!asks.password) return { username };
    given.password = true;
    return { username, password: password ?? '' };
  }
  if (asks.password && !asks.username && !given.password && password !== null) {
    given.password = true;
    return { password };
  }
  return null;
}

/** The first form of a page that asks for anything of a login; null on any other page. */
function readPage(html: string): { readonly action: string; readonly fields: ReadonlySet<string> } | null {
  for (const [, attributes = '', inside = ''] of html.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g)) {
    const action = /\baction="([^"]*)"/.exec(attributes)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const fields = new Set([...inside.matchAll(/\bname="([^"]*)"/g)].map(([, name = '']) => name));
    if (!action.includes('/login-actions/')) continue;
    return { action, fields };
  }
  return null;
}

function keep(cookies: Map<string, string>, set: readonly string[]): void {
  for (const line of set) {
    const [pair = '', ...attributes] = line.split(';');
    const at = pair.indexOf('=');
    const [name, value] = [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    if (value === '' || attributes.some((attribute) => /^\s*max-age=0\s*$/i.test(attribute))) cookies.delete(name);
    else cookies.set(name, value);
  }
}
