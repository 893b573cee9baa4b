import { read, unmeasured } from '../../domain/core/verdict.ts';
import type { Reading, UnmeasuredCause } from '../../domain/core/verdict.ts';
import { parseStatus, unmeasuredBy } from './errors.ts';
import { pathSegment } from './kinds.ts';
import type { PodPort, PodRequest, PodResponse } from './port.ts';
import type { Transport } from './transport.ts';

/**
 * One HTTP request to a pod through the API server's proxy (`pods/NAME:PORT/proxy`); see KubernetesPort.podRequest.
 *
 * Both the pod and the API server may answer 403, 404 or 503. The API server's own errors are a `metav1.Status` (its
 * "error trying to reach service" is a 503 of that form), so that is what tells them apart. A pod that itself answers
 * with a failed Status is taken for the API server: unmeasured, which decides nothing.
 */
export async function requestPod(
  transport: Transport,
  pod: PodPort,
  request: PodRequest,
): Promise<Reading<PodResponse>> {
  const what = `${request.method} ${request.path.replace(/\?.*$/, '')} of pod ${pod.namespace}/${pod.name}:${pod.port}`;
  const from = `pod proxy of ${transport.server}`;
  const failed = (why: UnmeasuredCause, message: string) => unmeasured(what, from, why, `${what}: ${message}`);
  const namespace = pathSegment(pod.namespace);
  const name = pathSegment(pod.name);
  if (namespace === undefined || name === undefined) return failed('error', 'this is no name of a pod');
  const target = proxyPath(request.path);
  if (target === undefined) return failed('error', 'the path must start with / and stay below it');

  const answer = await transport.send({
    method: request.method,
    path: `/api/v1/namespaces/${namespace}/pods/${name}:${pod.port}/proxy${target}`,
    accept: '*/*',
    timeoutMs: request.timeoutMs,
    ...(request.body === undefined ? {} : { body: request.body }),
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  });
  if (answer.kind === 'none') return unmeasuredBy(what, from, answer);
  if (answer.status >= 400 && parseStatus(answer.body) !== undefined) return unmeasuredBy(what, from, answer);
  return read({ status: answer.status, body: answer.body });
}

/**
 * The path below the proxy. Parts of it come from what pods say of themselves (names of agents), so a path that climbs
 * out of the proxy to other objects of the API server is refused, in every spelling that a server may decode.
 */
function proxyPath(text: string): string | undefined {
  const [path = '', ...rest] = text.split('?');
  if (!path.startsWith('/') || /[\\#]|%(?![0-9a-fA-F]{2})/.test(path)) return undefined;
  if (path.split('/').some(climbs)) return undefined;
  const query = rest.length === 0 ? '' : `?${rest.join('?')}`;
  return `${path}${query}`.replace(/[^\w\-.~!$&'()*+,;=:@/%?]/gu, encodeURIComponent);
}

function climbs(segment: string): boolean {
  let text = segment;
  // Decoded as often as any server on the way might.
  for (let round = 0; round < 3; round++) {
    if (text === '.' || text === '..' || /[/\\]/.test(text)) return true;
    const decoded = decodeOnce(text);
    if (decoded === text) return false;
    text = decoded;
  }
  return true;
}

function decodeOnce(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
