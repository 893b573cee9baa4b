import { request } from 'undici';
import { allOf, fail, pass, unmeasured, type Verdict } from '../../domain/core/verdict.ts';
import type { Pod } from '../../domain/core/workload.ts';
import type { TargetAddress } from '../../domain/release/address.ts';
import type { Health } from '../../domain/release/spec.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import { errorCode } from '../error-code.ts';

export interface HealthQuestion {
  readonly target: TargetAddress;
  readonly health: Health;
  /** The pods to ask; a URL is asked once, whatever they are. */
  readonly pods: readonly Pod[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Asks a target how it is, in each pod or by its URL. A wrong answer is a failure; no answer is unmeasured, since it may
 * be the way to the pod that is broken.
 */
export async function askHealth(port: KubernetesPort, question: HealthQuestion): Promise<Verdict> {
  const { health, target, pods } = question;
  if (health === 'none') return pass('no health check is asked for');
  if ('url' in health) return askUrl(health.url, question);
  const answers = await Promise.all(
    pods.map((pod) =>
      'http' in health ? askPod(port, pod, health.http, question) : askCommand(port, pod, health.exec, question),
    ),
  );
  question.signal.throwIfAborted();
  return allOf(answers, `health of ${target.name}`);
}

async function askPod(
  port: KubernetesPort,
  pod: Pod,
  http: { readonly port: number; readonly path: string; readonly expect: number },
  { target, timeoutMs, signal }: HealthQuestion,
): Promise<Verdict> {
  const { name } = pod.metadata;
  const answer = await port.podRequest(
    { namespace: target.namespace, name, port: http.port },
    { method: 'GET', path: http.path, timeoutMs, signal },
  );
  if (answer.kind === 'unmeasured') return answer;
  return ofStatus(`GET ${http.path} of pod ${target.namespace}/${name}`, answer.value.status, http.expect);
}

async function askCommand(
  port: KubernetesPort,
  pod: Pod,
  exec: { readonly command: readonly string[]; readonly container?: string | undefined },
  { target, timeoutMs, signal }: HealthQuestion,
): Promise<Verdict> {
  const { name } = pod.metadata;
  const container = exec.container ?? containerToAsk(pod, target);
  const what = `${exec.command[0] ?? 'command'} in container ${container} of pod ${target.namespace}/${name}`;
  const outcome = await port.exec({ namespace: target.namespace, name, container }, exec.command, {
    timeoutMs,
    signal,
  });
  if (outcome.kind === 'unmeasured') return outcome;
  if (outcome.code === 0) return pass(`${what} ended with 0`);
  return fail('Unhealthy', `${what} ended with ${outcome.code}`);
}

/** A command runs in the target's container, or in the pod's first where the target is an init container, which is over. */
export function containerToAsk(pod: Pod, target: TargetAddress): string {
  const containers = pod.spec?.containers ?? [];
  if (containers.some((c) => c.name === target.container)) return target.container;
  return containers[0]?.name ?? target.container;
}

/** Redirects are not followed: a login page that answers 200 says nothing of the target. */
async function askUrl(url: string, { timeoutMs, signal }: HealthQuestion): Promise<Verdict> {
  const { origin, pathname } = new URL(url);
  const what = `GET ${origin}${pathname}`;
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await request(url, { method: 'GET', signal: AbortSignal.any([timeout, signal]) });
    // The status says it all; the body is let go.
    response.body.on('error', () => undefined).destroy();
    return ofStatus(what, response.statusCode, 200);
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) return unmeasured(what, 'this worker', 'timeout', `${what}: no answer within ${timeoutMs} ms`);
    return unmeasured(what, 'this worker', 'unreachable', `${what}: cannot be reached (${errorCode(error)})`);
  }
}

function ofStatus(what: string, status: number, expected: number): Verdict {
  if (status === expected) return pass(`${what} answered ${status}`);
  return fail('Unhealthy', `${what} answered ${status}, not ${expected}`);
}
