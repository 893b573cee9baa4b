import { formatNotification } from '../../domain/core/notification.ts';
import type { Severity } from '../../domain/core/notification.ts';
import type { Notifier } from './port.ts';

/** The part of a logger that is used: Temporal's and pino's both have it. */
export interface NotificationLog {
  readonly info: (message: string) => void;
  readonly warn: (message: string) => void;
}

/** Writes notifications into the worker's log. Always there, so that nothing is said to nobody. */
export function createLogNotifier(log: NotificationLog): Notifier {
  const write: Readonly<Record<Severity, (message: string) => void>> = {
    info: (message) => log.info(message),
    warning: (message) => log.warn(message),
    page: (message) => log.warn(message),
  };
  return {
    name: 'log',
    isLog: true,
    notify: (notification) => {
      write[notification.severity](formatNotification(notification));
      return Promise.resolve({ kind: 'delivered' });
    },
  };
}
