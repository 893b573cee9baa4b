import { readAudit, type AuditEvent, type AuditMark } from '../access.ts';
import { CONTAINER, type Stage, type Target } from './stage.ts';

const WRITES = ['create', 'update', 'patch', 'delete'];

/** Names of the targets that anybody wrote to since then, each once. */
export async function targetsWritten(stage: Stage, since: AuditMark): Promise<string[]> {
  return [...new Set((await writes(stage, since)).map(nameOf))];
}

/** Names of the targets that anybody wrote an image to since then, once for each write and in order. */
export async function imagesWritten(stage: Stage, since: AuditMark): Promise<string[]> {
  return (await writes(stage, since)).filter(writesImage).map(nameOf);
}

/** Seconds from the first write to a target since then to the last one. */
export async function secondsOfWrites(stage: Stage, since: AuditMark, target: Target): Promise<number> {
  const times = (await writes(stage, since))
    .filter((event) => nameOf(event) === target)
    .map(({ requestReceivedTimestamp }) => Date.parse(requestReceivedTimestamp));
  return (Math.max(...times) - Math.min(...times)) / 1000;
}

/** Of the Deployments on the stage, in effect, and not by the cluster's own controllers, which keep their status. */
async function writes(stage: Stage, since: AuditMark): Promise<AuditEvent[]> {
  return (await readAudit(stage.lab, since)).filter(
    ({ verb, user, objectRef, responseStatus }) =>
      objectRef?.resource === 'deployments' &&
      objectRef.namespace === stage.namespace &&
      WRITES.includes(verb) &&
      !user.username.startsWith('system:') &&
      (responseStatus?.code ?? 0) < 300,
  );
}

function writesImage({ requestObject }: AuditEvent): boolean {
  const body = requestObject as {
    spec?: { template?: { spec?: { containers?: { name: string; image?: string }[] } } };
  };
  const containers = body.spec?.template?.spec?.containers ?? [];
  return containers.some(({ name, image }) => name === CONTAINER && image !== undefined);
}

function nameOf({ objectRef }: AuditEvent): string {
  return objectRef?.name ?? '';
}
