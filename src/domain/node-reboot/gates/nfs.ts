import { z } from 'zod';
import { own } from '../../core/own.ts';
import { allOf, fail, pass, read, unmeasured, type Reading, type Verdict } from '../../core/verdict.ts';
import type { GateReading } from '../gate.ts';
import type { GatesSpec } from '../gates-spec.ts';
import { isFinished, podName, readPods, type PodReading } from '../pod.ts';
import { readObjects, type RawObjects } from '../read-objects.ts';

export interface NfsFacts {
  /** The servers that pods on the node mount. */
  readonly mounts: Reading<readonly NfsMount[]>;
  /** Whether each server answers, by its name as in the volumes. */
  readonly answers: Readonly<Record<string, Reading<boolean>>>;
}

export interface NfsMount {
  readonly server: string;
  /** NAMESPACE/NAME of a pod that mounts it. */
  readonly pod: string;
}

const claimSchema = z.object({
  metadata: z.object({ namespace: z.string(), name: z.string() }),
  spec: z.object({ volumeName: z.string().default('') }),
});

const volumeSchema = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    nfs: z.object({ server: z.string() }).nullish(),
    csi: z.object({ volumeAttributes: z.record(z.string(), z.string()).nullish(), driver: z.string() }).nullish(),
  }),
});

/** The CSI driver of the Kubernetes project names the server among the attributes of a volume. */
const nfsDriver = 'nfs.csi.k8s.io';

/**
 * Which NFS servers the pods on a node mount, directly or by a claim. A claim or volume that is not there is missing, and
 * not without a server.
 *
 * @param pods those on the node
 * @param claims all PersistentVolumeClaims of their namespaces
 * @param volumes all PersistentVolumes
 */
export function readNfsMounts(pods: RawObjects, claims: RawObjects, volumes: RawObjects): NfsFacts['mounts'] {
  const here = readPods(pods);
  if (here.kind === 'unmeasured') return here;
  const bound = readObjects(claims, 'claims', claimSchema);
  if (bound.kind === 'unmeasured') return bound;
  const known = readObjects(volumes, 'volumes', volumeSchema);
  if (known.kind === 'unmeasured') return known;
  const volumeOf = new Map(
    bound.value.map(({ metadata, spec }) => [`${metadata.namespace}/${metadata.name}`, spec.volumeName]),
  );
  const serverOf = new Map(known.value.map(({ metadata, spec }) => [metadata.name, serverIn(spec)]));

  const mounts: NfsMount[] = [];
  for (const pod of here.value.filter((one) => !isFinished(one))) {
    mounts.push(...pod.nfsServers.map((server) => ({ server, pod: podName(pod) })));
    for (const claim of pod.claims) {
      const volume = volumeOf.get(`${pod.namespace}/${claim}`);
      if (volume === undefined) return missing(pod, `claim ${pod.namespace}/${claim}`);
      // A claim that is not bound yet is mounted by nobody.
      if (volume === '') continue;
      const server = serverOf.get(volume);
      if (server === undefined) return missing(pod, `volume ${volume}`);
      if (server !== null) mounts.push({ server, pod: podName(pod) });
    }
  }
  return read(mounts);
}

function serverIn({ nfs, csi }: z.output<typeof volumeSchema>['spec']): string | null {
  if (nfs !== undefined && nfs !== null) return nfs.server;
  return csi?.driver === nfsDriver ? (csi.volumeAttributes?.['server'] ?? null) : null;
}

function missing(pod: PodReading, what: string): Reading<never> {
  return unmeasured('NFS mounts', 'API server', 'missing', `${what} of pod ${podName(pod)} is not there`);
}

/**
 * Every NFS server that pods on the node mount answers: a hard mount of one that does not keeps its pod from ever ending.
 * Only servers that the spec names are asked.
 */
export function nfsGate({ mounts, answers }: NfsFacts, spec: NonNullable<GatesSpec['nfs']>): GateReading {
  return { gate: 'nfs', verdict: judge(mounts, answers, spec.servers), lift: 'bring the NFS server back' };
}

function judge(mounts: NfsFacts['mounts'], answers: NfsFacts['answers'], named: readonly string[]): Verdict {
  if (mounts.kind === 'unmeasured') return mounts;
  if (mounts.value.length === 0) return pass('no pod on the node mounts NFS');
  const servers = new Map(mounts.value.map(({ server, pod }) => [server, pod]));
  return allOf(
    [...servers].map(([server, pod]) => judgeServer(server, pod, own(answers, server), named)),
    'NFS servers',
  );
}

function judgeServer(
  server: string,
  pod: string,
  answer: Reading<boolean> | undefined,
  named: readonly string[],
): Verdict {
  const what = `NFS server ${server}`;
  if (!named.includes(server)) {
    const message = `pod ${pod} mounts ${server}, which gates.nfs.servers does not name`;
    return unmeasured(what, 'the spec', 'missing', message);
  }
  if (answer === undefined) return unmeasured(what, 'this worker', 'missing', `nobody has asked ${server}`);
  if (answer.kind === 'unmeasured') return answer;
  return answer.value
    ? pass(`${server} answers`)
    : fail('NfsDown', `${what}, which pod ${pod} mounts, does not answer`);
}
