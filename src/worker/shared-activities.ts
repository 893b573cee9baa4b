import { readFile } from 'node:fs/promises';
import { Context } from '@temporalio/activity';
import { createApprovalActivities, type ApprovalActivities } from '../activities/approval/verify-signature.ts';
import { createNotifyActivities, type NotifyActivities } from '../activities/notify/create.ts';
import { createLogNotifier, type NotificationLog } from '../activities/notify/log.ts';
import type { Notifier } from '../activities/notify/port.ts';
import type { ReferenceSource } from '../activities/notify/reference.ts';
import { createWebhookNotifier } from '../activities/notify/webhook.ts';
import type { WorkerConfig } from './config.ts';

/**
 * What every capability asks for: signatures verified, and people told.
 *
 * @param log hears every notification
 */
export function sharedActivities(config: WorkerConfig, log: NotificationLog): ApprovalActivities & NotifyActivities {
  return {
    ...createApprovalActivities(),
    ...createNotifyActivities({
      notifiers: [createLogNotifier(log), ...config.notify.map(webhookOf)],
      signal: () => Context.current().cancellationSignal,
    }),
  };
}

function webhookOf({ name, webhook, format }: WorkerConfig['notify'][number], index: number): Notifier {
  const source: ReferenceSource = {
    env: (variable) => process.env[variable],
    readFile: (path) => readFile(path, 'utf8'),
  };
  return createWebhookNotifier({ name: name ?? `${index + 1}`, url: webhook, format }, source);
}
