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

/**
 * The activity that tells people. Every receiver is tried, whatever becomes of the others; what could not be delivered
 * is in the result and no exception, because no operation may fail for want of a listener.
 */
export function createNotifyActivities({ notifiers, signal }: NotifyDependencies) {
  return {
    notify: async (notification: Notification): Promise<NotifyResult> => ({
      deliveries: await Promise.all(
        notifiers.map(async (notifier) => ({
          ...(await notifier.notify(notification, signal())),
          notifier: notifier.name,
        })),
      ),
    }),
  };
}
