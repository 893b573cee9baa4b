import { isUnmeasured, type Unmeasured } from '../../domain/core/verdict.ts';
import type { DrainProgress } from '../../domain/node-reboot/drain-progress.ts';
import type { ResultOf } from '../../domain/node-reboot/result.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import { atBoundary } from '../release/boundary.ts';
import { waiting, type WaitContext } from '../wait-context.ts';
import { clusterOf } from '../kubernetes/cluster-of.ts';
import type { NodeRebootDependencies } from './dependencies.ts';
import { drainNode } from './drain.ts';
import { readGates } from './gates.ts';
import { gatesOfNodes } from './gates-of-nodes.ts';
import { holdLock, releaseLock, takeLock } from './lock.ts';
import { lastCheck } from './last-check.ts';
import { movePrimaries, type MoveProgress } from './move-primaries.ts';
import { readNode } from './nodes.ts';
import { noteStop } from './note-stop.ts';
import { awaitCampaignChange, observeCampaign } from './observe.ts';
import type { NodeRebootActivities, StepInput } from './port.ts';
import { removeHostPods } from './remove-host-pods.ts';
import { rebootByCommand } from './reboot-by-command.ts';
import { rebootByPod } from './reboot.ts';
import { awaitReturn, checkNode, settle, type ReadyProgress } from './watch-node.ts';
import { cordon, uncordon } from './write-node.ts';

type Lost = ResultOf<'lockLost'>;

/** The activities of NodeReboots over their ports. One set serves any number of them. */
export function createNodeRebootActivities(dependencies: NodeRebootDependencies): NodeRebootActivities {
  const clock = dependencies.clock ?? Date.now;
  /** Runs a step once the lock says how far it may bring the node. */
  const underLock = <R, P = undefined>(
    name: string,
    { spec, record }: StepInput,
    step: (port: KubernetesPort, context: WaitContext<P>, wasThere: boolean) => Promise<R>,
  ): Promise<R | Lost> =>
    atBoundary(name, () =>
      waiting<P, R | Lost>(async (context) => {
        const port = clusterOf(dependencies, spec.cluster);
        if (isUnmeasured(port)) return lost(port);
        const held = await holdLock(port, record, context.signal);
        return held.ok ? step(port, context, held.wasThere) : { of: 'lockLost', message: held.message };
      }),
    );
  return {
    observeCampaign: (input) =>
      atBoundary('observeCampaign', () => waiting(({ signal }) => observeCampaign(dependencies, input, signal))),
    awaitCampaignChange: (input) =>
      atBoundary('awaitCampaignChange', () =>
        waiting(({ signal }) => awaitCampaignChange(dependencies, input, signal)),
      ),
    gatesOfNodes: (input) =>
      atBoundary('gatesOfNodes', () => waiting(({ signal }) => gatesOfNodes(dependencies, input, signal))),
    takeLock: ({ spec, record, replaces }) =>
      atBoundary('takeLock', () =>
        waiting(({ signal }) => {
          const port = clusterOf(dependencies, spec.cluster);
          if (!isUnmeasured(port)) return takeLock(port, record, replaces, signal);
          return Promise.resolve({ of: 'takeLock', outcome: 'refused', message: port.message } as const);
        }),
      ),
    gatesBefore: (input) =>
      underLock('gatesBefore', input, async (port, { signal }): Promise<ResultOf<'gatesBefore'>> => {
        const { node } = input.record.visit;
        const at = clock();
        const readings = await readGates(dependencies, port, { spec: input.spec, node, stage: 'before', signal });
        const seen = await readNode(port, node, signal);
        if (seen.kind === 'unmeasured') return { of: 'gatesBefore', readings, before: seen, at };
        const { bootId, kernel, memory, unschedulable } = seen.value.node;
        return {
          of: 'gatesBefore',
          readings,
          before: { kind: 'read', value: { bootId, kernel, memory, unschedulable } },
          at,
        };
      }),
    cordon: (input) =>
      underLock('cordon', input, (port, { signal }) => cordon(port, input.record, input.deadline, clock, signal)),
    movePrimaries: (input) =>
      underLock<ResultOf<'movePrimaries'>, MoveProgress>('movePrimaries', input, (port, context) =>
        movePrimaries(port, input, clock, context),
      ),
    drain: (input) =>
      underLock<ResultOf<'drain'>, DrainProgress>('drain', input, (port, context) =>
        drainNode(port, input, clock, context),
      ),
    lastCheck: (input) =>
      underLock('lastCheck', input, (port, { signal }) => lastCheck(dependencies, port, input, clock, signal)),
    rebootNode: (input) =>
      underLock('rebootNode', input, (port, { signal }, wasThere): Promise<ResultOf<'reboot'>> => {
        const { spec, record, deadline } = input;
        const { hostImage, commands = {} } = dependencies;
        if (!('command' in spec.method)) return rebootByPod(port, hostImage, record, wasThere, deadline, clock, signal);
        const named = { name: spec.method.command, commands };
        return rebootByCommand(port, named, record, wasThere, deadline, clock, signal);
      }),
    awaitReturn: (input) =>
      underLock('awaitReturn', input, (port, context) => awaitReturn(port, input, clock, context)),
    checkNode: (input) =>
      underLock<ResultOf<'checkNode'>, ReadyProgress>('checkNode', input, (port, context) =>
        checkNode(dependencies, port, input, clock, context),
      ),
    uncordon: (input) =>
      underLock('uncordon', input, (port, { signal }) => uncordon(port, 'uncordon', input.record, signal)),
    settle: (input) => underLock('settle', input, (port, context) => settle(dependencies, port, input, clock, context)),
    restoreNode: (input) =>
      underLock('restoreNode', input, (port, { signal }) => uncordon(port, 'restore', input.record, signal)),
    noteStop: ({ spec, record, deadline }) =>
      atBoundary('noteStop', () =>
        waiting(({ signal }) => {
          const port = clusterOf(dependencies, spec.cluster);
          return isUnmeasured(port) ? Promise.resolve(lost(port)) : noteStop(port, record, deadline, clock, signal);
        }),
      ),
    releaseLock: ({ spec, record }) =>
      atBoundary('releaseLock', () =>
        waiting(async ({ signal }) => {
          const port = clusterOf(dependencies, spec.cluster);
          if (isUnmeasured(port)) return lost(port);
          await removeHostPods(port, record.visit.node, clock, signal);
          return releaseLock(port, record, signal);
        }),
      ),
  };
}

function lost({ message }: Unmeasured): Lost {
  return { of: 'lockLost', message };
}
