import { read, unmeasured } from '../../domain/core/verdict.ts';
import type { Reading } from '../../domain/core/verdict.ts';
import { isRecord, parseJson, unmeasuredBy, unusable } from './errors.ts';
import type { AccessReview } from './port.ts';
import type { Connection } from './reads.ts';
import { sendRead } from './retry.ts';

/** Asks whether the client's own identity may do something; writes nothing. See KubernetesPort.can. */
export async function reviewAccess(connection: Connection, review: AccessReview): Promise<Reading<boolean>> {
  const { verb, group, resource, subresource, namespace, name } = review;
  const object = `${resource}${subresource === undefined ? '' : `/${subresource}`}${group === '' ? '' : `.${group}`}`;
  const what = `permission to ${verb} ${object}${namespace === undefined ? '' : ` in ${namespace}`}`;
  const from = connection.transport.server;
  const answer = await sendRead(connection.transport, {
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb, group, resource, subresource, namespace, name } },
    },
    timeoutMs: connection.requestTimeoutMs,
  });
  if (answer.kind === 'none' || answer.status > 299) return unmeasuredBy(what, from, answer);
  const body = parseJson(answer.body);
  const status = isRecord(body) && body.kind === 'SelfSubjectAccessReview' ? body.status : undefined;
  if (!isRecord(status) || typeof status.allowed !== 'boolean') {
    const { why, message } = unusable(answer);
    return unmeasured(what, from, why, `${what}: ${message}`);
  }
  // An authorizer that failed while another did not allow it: nobody said no.
  if (!status.allowed && typeof status.evaluationError === 'string' && status.evaluationError !== '')
    return unmeasured(what, from, 'error', `${what}: the API server could not evaluate it`);
  return read(status.allowed);
}

/** The API server's version, such as `v1.34.1`. */
export async function readVersion(connection: Connection): Promise<Reading<string>> {
  const what = 'version of the API server';
  const from = connection.transport.server;
  const answer = await sendRead(connection.transport, {
    method: 'GET',
    path: '/version',
    timeoutMs: connection.requestTimeoutMs,
  });
  if (answer.kind === 'none' || answer.status !== 200) return unmeasuredBy(what, from, answer);
  const body = parseJson(answer.body);
  if (isRecord(body) && typeof body.gitVersion === 'string') return read(body.gitVersion);
  const { why, message } = unusable(answer);
  return unmeasured(what, from, why, `${what}: ${message}`);
}
