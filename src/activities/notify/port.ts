import type { Notification } from '../../domain/core/notification.ts';

/** Someone who is told. */
export interface Notifier {
  /** How people call it, such as `log` or `webhook ops`. Never an address: that may hold a secret. */
  readonly name: string;
  /** It takes everything, and nobody need be there who reads it. [false] */
  readonly isLog?: true;
  /**
   * Tells it.
   *
   * @param signal ends the attempt
   * @returns when the receiver has it, or why it has not
   */
  readonly notify: (notification: Notification, signal: AbortSignal) => Promise<Delivery>;
}

/** What became of a notification. A refusal does not pass by trying again; being unreachable may. */
export type Delivery =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'unreachable'; readonly message: string; readonly retryAfterMs?: number };
