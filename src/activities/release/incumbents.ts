import { isUnmeasured, read, type Reading } from '../../domain/core/verdict.ts';
import { incumbentHolds, type Incumbent } from '../../domain/release/incumbents.ts';
import type { IncumbentReading } from '../../domain/release/observation.ts';
import type { KubeObject } from '../kubernetes/port.ts';
import { clusterOf } from '../kubernetes/cluster-of.ts';
import type { ReleaseDependencies } from './dependencies.ts';

type State = 'absent' | 'suspended' | 'active';

/** An incumbent on the wire, whatever its kind. */
interface Writer extends KubeObject {
  readonly spec?: { readonly suspend?: unknown; readonly replicas?: unknown };
  readonly status?: { readonly active?: unknown; readonly replicas?: unknown };
}

/** Reads each incumbent once, in order. */
export function readIncumbents(
  dependencies: ReleaseDependencies,
  incumbents: readonly Incumbent[],
  signal: AbortSignal,
): Promise<IncumbentReading[]> {
  return Promise.all(
    incumbents.map(async (incumbent) => ({
      name: incumbentName(incumbent),
      state: await readState(dependencies, incumbent, signal),
    })),
  );
}

/** Why the incumbents forbid a write: the first that is active or cannot be read. Null where none does. */
export function standsInTheWay(readings: readonly IncumbentReading[]): string | null {
  return incumbentHolds(readings)[0] ?? null;
}

async function readState(
  dependencies: ReleaseDependencies,
  incumbent: Incumbent,
  signal: AbortSignal,
): Promise<Reading<State>> {
  const port = clusterOf(dependencies, incumbent.cluster);
  // The cluster is what is missing here. That says nothing about the incumbent, and only its own absence counts as such.
  if (isUnmeasured(port)) return { ...port, why: 'unreachable' };
  const { apiVersion, kind, namespace, name } = incumbent;
  const found = await port.get<Writer>({ apiVersion, kind, namespace, name }, { signal });
  signal.throwIfAborted();
  if (found.kind === 'read') return read(stateOf(found.value));
  return found.why === 'missing' ? read('absent') : found;
}

/**
 * Suspended is what says so (`spec.suspend` of a CronJob, a Job or a Flux object) or runs nothing (`replicas: 0`), and
 * has nothing left running: a CronJob that was suspended a second ago may still have a Job that writes.
 */
function stateOf({ spec, status }: Writer): State {
  if (spec?.suspend === true) return Array.isArray(status?.active) && status.active.length > 0 ? 'active' : 'suspended';
  if (spec?.replicas === 0) return typeof status?.replicas === 'number' && status.replicas > 0 ? 'active' : 'suspended';
  return 'active';
}

function incumbentName({ kind, namespace, name }: Incumbent): string {
  return `${kind} ${namespace}/${name}`;
}
