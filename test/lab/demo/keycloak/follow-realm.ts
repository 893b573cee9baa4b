import { setTimeout as sleep } from 'node:timers/promises';
import type { Timeline } from '../timeline.ts';
import type { LoginStage } from './login-stage.ts';

const LOOK_EVERY_MS = 300;

/** An admin event of Keycloak, as far as it is told. */
export interface AdminEvent {
  readonly time: number;
  readonly operationType: string;
  readonly resourceType: string;
  readonly resourcePath: string;
  readonly representation?: string;
  readonly authDetails: { readonly userId?: string; readonly realmId?: string };
}

/** A login that ended, well or not. */
interface LoginEvent {
  readonly time: number;
  readonly type: string;
  readonly clientId?: string;
  readonly error?: string;
  readonly details?: Readonly<Record<string, string>>;
}

/** What Keycloak itself records goes to the timeline, for as long as it is followed. */
export interface RealmFollower {
  /** Tells what has been recorded until now. */
  caughtUp(): Promise<void>;
  stop(): Promise<void>;
}

/** Follows the admin events of Holdfast's account, and the logins of everybody. */
export function followRealm(stage: LoginStage, timeline: Timeline, leaving: AbortSignal): RealmFollower {
  const ending = new AbortController();
  const signal = AbortSignal.any([ending.signal, leaving]);
  const told = new Set<string>();
  let looking: Promise<void> = Promise.resolve();

  async function lookOnce(): Promise<void> {
    const lines: { readonly time: number; readonly key: string; readonly text: string; readonly bad: boolean }[] = [];
    for (const event of await writesOf(stage, stage.since)) {
      const text = describeWrite(event);
      const { time, operationType, resourcePath } = event;
      lines.push({ time, key: `${time} ${operationType} ${resourcePath}`, text, bad: false });
    }
    for (const event of await stage.realm.ask<LoginEvent[]>('GET', '/events?type=LOGIN&type=LOGIN_ERROR&max=100')) {
      if (event.time < stage.since) continue;
      const text = describeLogin(event);
      lines.push({ time: event.time, key: `${event.time} ${text}`, text, bad: event.type !== 'LOGIN' });
    }
    for (const { key, text, bad } of lines.sort((a, b) => a.time - b.time)) {
      if (told.has(key)) continue;
      told.add(key);
      timeline.tell('keycloak', text, bad ? 'waits' : 'plain');
    }
  }

  /** One look after the other, so that nothing is told twice. */
  function look(): Promise<void> {
    looking = looking.then(lookOnce);
    return looking;
  }

  async function followAll(): Promise<void> {
    while (!signal.aborted) {
      await look().catch(() => {
        looking = Promise.resolve(); // not known right now
      });
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  const following = followAll();
  return {
    caughtUp: look,
    async stop() {
      ending.abort();
      await following;
    },
  };
}

/** What Holdfast's account wrote since then, in order. */
export async function writesOf({ realm }: LoginStage, since: number): Promise<AdminEvent[]> {
  const events = await realm.ask<AdminEvent[]>('GET', '/admin-events?max=300');
  const [client] = await realm.ask<{ id: string }[]>('GET', `/clients?clientId=${realm.clientId}`);
  const account = await realm.ask<{ id: string }>('GET', `/clients/${client?.id ?? ''}/service-account-user`);
  return events
    .filter(({ time, authDetails }) => time >= since && authDetails.userId === account.id)
    .sort((a, b) => a.time - b.time);
}

function describeWrite({ operationType, resourceType, resourcePath, representation }: AdminEvent): string {
  const body = parse(representation);
  const text = (key: string) => (typeof body[key] === 'string' ? body[key] : '');
  const parent = decodeURIComponent(/^authentication\/flows\/([^/]+)/.exec(resourcePath)?.[1] ?? '');
  switch (resourceType) {
    case 'AUTH_FLOW':
      return `flow ${text('alias')} is created`;
    case 'AUTH_EXECUTION_FLOW':
      return `${parent} gets the sub-flow ${text('alias')}`;
    case 'AUTH_EXECUTION':
      if (operationType === 'UPDATE') return `${parent}: a row becomes ${text('requirement')}`;
      return resourcePath.endsWith('/config')
        ? `a row gets the configuration ${text('alias')}`
        : `${parent} gets ${text('provider')}`;
    case 'AUTHENTICATOR_CONFIG':
      return `a row gets the configuration ${text('alias')}`;
    case 'REALM':
      return `the realm is written, its browser flow is ${text('browserFlow')}`;
    case 'CLIENT':
      return 'the probe client is aimed';
    default:
      return `${operationType} ${resourceType} ${resourcePath}`;
  }
}

function describeLogin({ type, clientId, error, details }: LoginEvent): string {
  const who = details?.['username'] ?? 'somebody';
  const end = type === 'LOGIN' ? 'logged in' : `not logged in (${error ?? 'error'})`;
  return `${who} at ${clientId ?? 'a client'}: ${end}`;
}

function parse(text: string | undefined): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text ?? '{}') as Record<string, unknown>;
  } catch {
    return {};
  }
}
