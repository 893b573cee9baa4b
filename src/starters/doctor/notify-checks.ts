import { fail, pass, type Verdict } from '../../domain/core/verdict.ts';
import { readSecret, type SecretRef, type WorkerConfig } from '../../worker/config.ts';
import type { Check } from './check.ts';

/** Whether the secret of each receiver can be read from here; nothing is sent. */
export function notifyChecks({ notify }: Pick<WorkerConfig, 'notify'>): Promise<readonly Check[]> {
  return Promise.all(
    notify.map(async ({ name, webhook }, index) => ({
      name: `notify ${name ?? String(index + 1)}`,
      verdict: await webhookVerdict(webhook),
      fix: 'put it there, or correct webhook under notify in the worker configuration (--config); what is mounted in the worker’s pod is seen by doctor run in it',
    })),
  );
}

async function webhookVerdict(webhook: SecretRef): Promise<Verdict> {
  try {
    const url = await readSecret(webhook);
    return /^https?:$/.test(URL.parse(url)?.protocol ?? '')
      ? pass('its URL can be read')
      : fail('NoUrl', 'what is there is no URL of http or https');
  } catch (error) {
    return fail('SecretMissing', error instanceof Error ? error.message : String(error));
  }
}
