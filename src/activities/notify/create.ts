import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import type { Notification } from '../../domain/core/notification.ts';
import type { Delivery, Notifier } from './port.ts';

/** What became of a notification at each receiver. */
export interface NotifyResult {
  readonly deliveries: readonly (Delivery & { readonly notifier: string })[];
}

/** Those who are told, and what ends an attempt (in a worker: the cancellation of the activity). */
export interface NotifyDependencies {
  readonly notifiers: readonly Notifier[];
  readonly signal: () => AbortSignal;
}

/** Pauses between tries of a receiver that cannot be reached: with ten seconds a try, all of it is over in a minute. */
const PAUSES_MS = [500, 2_000, 8_000];

/** The activities that tell people, as workflows see them. */
export type NotifyActivities = ReturnType<typeof createNotifyActivities>;

/**
 * The activities that tell people. Every receiver is tried, whatever becomes of the others, and a few times where it
 * cannot be reached.
 *
 * `notify`: what could not be delivered is in the result and no exception, because no operation may fail for want of a
 * listener. `page`: throws until a receiver beside the log has taken it, where there is any, so that its retries go on until
 * somebody can know; those that took none are named.
 *
 * @param pausesMs between tries
 */
export function createNotifyActivities({ notifiers, signal }: NotifyDependencies, pausesMs = PAUSES_MS) {
  const notify = async (notification: Notification): Promise<NotifyResult> => ({
    deliveries: await Promise.all(
      notifiers.map(async (notifier) => ({
        ...(await deliver(notifier, notification, signal(), pausesMs)),
        notifier: notifier.name,
      })),
    ),
  });
  const page = async (notification: Notification): Promise<NotifyResult> => {
    const result = await notify(notification);
    const people = result.deliveries.filter((_, index) => notifiers[index]?.isLog !== true);
    if (people.length === 0 || people.some(({ kind }) => kind === 'delivered')) return result;
    const why = people.map((delivery) => (delivery.kind === 'delivered' ? '' : delivery.message)).join('; ');
    throw ApplicationFailure.retryable(`nobody took the page ${notification.what}: ${why}`, 'PageUndelivered');
  };
  return { notify, page };
}

async function deliver(
  notifier: Notifier,
  notification: Notification,
  signal: AbortSignal,
  pausesMs: readonly number[],
): Promise<Delivery> {
  let delivery = await notifier.notify(notification, signal);
  for (const pauseMs of pausesMs) {
    if (delivery.kind !== 'unreachable') break;
    // A receiver that wants a longer pause than is left hears nothing more: it said itself that it would not take it.
    if ((delivery.retryAfterMs ?? 0) > Math.max(...pausesMs)) break;
    await sleep(Math.max(pauseMs, delivery.retryAfterMs ?? 0), undefined, { signal });
    delivery = await notifier.notify(notification, signal);
  }
  return delivery;
}
