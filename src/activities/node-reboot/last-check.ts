import type { ResultOf } from '../../domain/node-reboot/result.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import { sleep } from '../wait-context.ts';
import type { NodeRebootDependencies } from './dependencies.ts';
import { readGates } from './gates.ts';
import type { StepInput } from './port.ts';
import { readHost } from './read-host.ts';

/** What the drain has just moved, such as a Prometheus, has so long to answer again; never longer than `moveTimeout`. */
const patienceMs = 2 * 60_000;
const pauseMs = 5_000;

/**
 * See NodeRebootActivities.lastCheck. What fails decides at once; what could not be read is read again for a while, everything
 * with it, since the reboot rests on readings of one moment.
 */
export async function lastCheck(
  dependencies: NodeRebootDependencies,
  port: KubernetesPort,
  { spec, record }: StepInput,
  clock: () => number,
  signal: AbortSignal,
): Promise<ResultOf<'lastCheck'>> {
  const { node } = record.visit;
  const until = clock() + Math.min(patienceMs, spec.moveTimeout);
  for (;;) {
    const host = await readHost(port, dependencies.hostImage, node, clock, signal);
    const sentinel = host.kind === 'read' ? host.value.sentinel : host;
    const at = clock();
    const readings = await readGates(dependencies, port, { spec, node, stage: 'last', signal });
    const verdicts = readings.map(({ verdict }) => verdict.kind);
    const isOpen = sentinel.kind === 'unmeasured' || verdicts.includes('unmeasured');
    if (!isOpen || verdicts.includes('fail') || clock() >= until) return { of: 'lastCheck', readings, sentinel, at };
    await sleep(pauseMs, signal);
  }
}
