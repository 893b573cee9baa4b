import { formatNotification } from '../../domain/core/notification.ts';
import type { Notification } from '../../domain/core/notification.ts';
import { redact } from '../../domain/core/redact.ts';
import type { Delivery, Notifier } from './port.ts';
import { resolveReference } from './reference.ts';
import type { Reference, ReferenceSource } from './reference.ts';

/** A receiver of notifications by HTTP. */
export interface WebhookOptions {
  /** How people call it. */
  readonly name: string;
  /** Where its URL is kept: the URL of a webhook is itself a secret. */
  readonly url: Reference;
  /** `json`: every field, for receivers that route [default]; `slack`: the text alone, which chat systems show. */
  readonly format?: 'json' | 'slack';
  /** How long an attempt may take [10 s]. */
  readonly timeoutMs?: number;
}

/**
 * Posts notifications as JSON: `text` is what Slack, Mattermost and their kin show, the other fields are for receivers
 * that route by them. `Idempotency-Key` is equal for repetitions. The URL is read at each attempt, so that it can be rotated;
 * redirects are not followed, since they would carry the message to a place that nobody named.
 */
export function createWebhookNotifier(options: WebhookOptions, source: ReferenceSource): Notifier {
  const name = `webhook ${options.name}`;
  return {
    name,
    notify: async (notification, signal) => {
      const url = await resolveReference(options.url, source);
      if (!url.ok) return { kind: 'refused', message: `${name} has no URL: ${url.message}` };
      if (!isHttpUrl(url.value)) return { kind: 'refused', message: `${name}: what ${url.from} holds is no http URL` };
      return post(name, url.value, notification, options, signal);
    },
  };
}

async function post(
  name: string,
  url: string,
  notification: Notification,
  { format, timeoutMs = 10_000 }: WebhookOptions,
  signal: AbortSignal,
): Promise<Delivery> {
  const text = formatNotification(notification);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': encodeURIComponent(notification.dedupeKey) },
      body: JSON.stringify(format === 'slack' ? { text } : { ...notification, text }),
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    await response.body?.cancel();
    return deliveryOf(name, response);
  } catch (error) {
    signal.throwIfAborted();
    return { kind: 'unreachable', message: `${name} ${whyUnreachable(error, timeoutMs)}` };
  }
}

function deliveryOf(name: string, response: Response): Delivery {
  if (response.ok) return { kind: 'delivered' };
  const message = `${name} answered ${response.status}`;
  if (response.status !== 429 && response.status < 500) return { kind: 'refused', message };
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return {
    kind: 'unreachable',
    message,
    ...(Number.isFinite(seconds) && seconds >= 0 ? { retryAfterMs: seconds * 1_000 } : {}),
  };
}

/** The cause, and never the URL, which fetch puts into some of its messages. */
function whyUnreachable(error: unknown, timeoutMs: number): string {
  if (error instanceof Error && error.name === 'TimeoutError') return `did not answer within ${timeoutMs} ms`;
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
  return redact(`could not be reached${typeof code === 'string' ? `: ${code}` : ''}`);
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
