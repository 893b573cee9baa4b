import type { Incumbent } from '../../domain/core/incumbent.ts';
import { read, type Reading } from '../../domain/core/verdict.ts';
import { isDaemonLockHeld } from '../../domain/node-reboot/gates/locks.ts';
import type { NodeRebootSpec } from '../../domain/node-reboot/spec.ts';
import type { KubeObject, KubernetesPort } from '../kubernetes/port.ts';

interface DaemonSet extends KubeObject {
  readonly status?: { readonly desiredNumberScheduled?: number; readonly numberReady?: number };
}

/** The reboot daemons that Holdfast replaces: whether they run, and who holds their lock. */
export interface RebootDaemons {
  readonly incumbents: readonly Incumbent[];
  readonly foreignLock: Reading<string | null>;
}

/**
 * Reads each daemon once. kured keeps its lock as JSON in an annotation of its DaemonSet, with the node in it.
 */
export async function readDaemons(
  port: KubernetesPort,
  daemons: NodeRebootSpec['incumbents'],
  signal: AbortSignal,
): Promise<RebootDaemons> {
  const incumbents: Incumbent[] = [];
  let foreignLock: Reading<string | null> = read(null);
  for (const { namespace, daemonSet, lockAnnotation } of daemons) {
    const ref = `DaemonSet ${namespace}/${daemonSet}`;
    const found = await port.get<DaemonSet>(
      { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace, name: daemonSet },
      { signal },
    );
    signal.throwIfAborted();
    if (found.kind === 'unmeasured') {
      incumbents.push({ ref, state: found });
      if (found.why !== 'missing') foreignLock = found;
      continue;
    }
    const { desiredNumberScheduled = 0, numberReady = 0 } = found.value.status ?? {};
    const suspended = desiredNumberScheduled === 0 && numberReady === 0;
    incumbents.push({ ref, state: read({ exists: true, suspended }) });
    const lock = found.value.metadata.annotations?.[lockAnnotation];
    if (lock !== undefined && isDaemonLockHeld(lock) && foreignLock.kind === 'read') {
      foreignLock = read(`${ref} holds its lock, annotation ${lockAnnotation}: ${lock.slice(0, 200)}`);
    }
  }
  return { incumbents, foreignLock };
}
