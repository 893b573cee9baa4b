import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from './answer.ts';
import { judge } from './errors.ts';
import type { KubeRequest, Transport } from './transport.ts';

/** How often one reading is tried at most, the first time included. */
const tries = 4;
const firstWaitMs = 100;

/**
 * Sends a request that changes nothing until it gets an answer worth keeping, within `request.timeoutMs` over all tries.
 * Tried again: connections that broke or were refused, answers cut short, 429 and the 5xx that pass. `Retry-After` is
 * honoured when it fits the time that is left; when it does not, the answer is returned at once.
 */
export async function sendRead(transport: Transport, request: KubeRequest): Promise<Answer> {
  const until = performance.now() + request.timeoutMs;
  for (let attempt = 1; ; attempt++) {
    const left = until - performance.now();
    const answer = await transport.send({ ...request, timeoutMs: Math.max(1, Math.floor(left)) });
    if (answer.kind === 'answer' && answer.status < 300) return answer;
    const judged = judge(answer);
    if (!judged.retryable || attempt === tries || request.signal?.aborted === true) return answer;
    const waitMs = judged.retryAfterMs ?? jitter(firstWaitMs * 3 ** (attempt - 1));
    // Waiting only pays when there is time left for the answer as well.
    if (performance.now() + waitMs >= until) return answer;
    try {
      await sleep(waitMs, undefined, request.signal === undefined ? {} : { signal: request.signal });
    } catch {
      return answer;
    }
  }
}

/** Between half and all of it, so that many workers do not knock at once. */
export function jitter(ms: number): number {
  return Math.round(ms / 2 + Math.random() * (ms / 2));
}
