import { z } from 'zod';
import { allOf, fail, pass, unmeasured, type Reading, type Verdict } from '../../core/verdict.ts';
import type { GateReading, GateStage } from '../gate.ts';
import { readObjects, type RawObjects } from '../read-objects.ts';

export interface KubeVirtFacts {
  readonly machines: Reading<readonly VirtualMachine[]>;
}

/** A VirtualMachineInstance of KubeVirt. */
export interface VirtualMachine {
  /** NAMESPACE/NAME. */
  readonly name: string;
  readonly node: string | null;
  readonly over: boolean;
  /** As the condition LiveMigratable says; null where it says nothing. */
  readonly migratable: boolean | null;
  /** Why it is not. */
  readonly why: string;
}

const machineSchema = z
  .object({
    metadata: z.object({ namespace: z.string(), name: z.string() }),
    status: z
      .object({
        nodeName: z.string().nullish(),
        phase: z.string().default(''),
        conditions: z
          .array(z.object({ type: z.string(), status: z.string(), message: z.string().nullish() }))
          .nullish(),
      })
      .default({ phase: '' }),
  })
  .transform(({ metadata, status }): VirtualMachine => {
    const condition = status.conditions?.find(({ type }) => type === 'LiveMigratable');
    return {
      name: `${metadata.namespace}/${metadata.name}`,
      node: status.nodeName ?? null,
      over: status.phase === 'Succeeded' || status.phase === 'Failed',
      migratable: condition === undefined || condition.status === 'Unknown' ? null : condition.status === 'True',
      why: condition?.message ?? '',
    };
  });

/** @param machines `virtualmachineinstances.kubevirt.io` of the whole cluster */
export function readKubeVirt(machines: RawObjects): KubeVirtFacts {
  return { machines: readObjects(machines, 'virtual machines', machineSchema) };
}

/**
 * Every virtual machine on the node can be moved while it runs. Between drain and reboot all have left; afterwards nothing
 * is asked of those that have come.
 */
export function kubeVirtGate({ machines }: KubeVirtFacts, turn: string, stage: GateStage): GateReading {
  const lift = 'shut the virtual machine down, or make it migratable';
  return { gate: 'kubeVirt', verdict: judge(machines, turn, stage), lift };
}

function judge(machines: Reading<readonly VirtualMachine[]>, turn: string, stage: GateStage): Verdict {
  if (machines.kind === 'unmeasured') return machines;
  const here = machines.value.filter(({ node, over }) => node === turn && !over);
  if (stage === 'after') return pass(`${here.length} virtual machines are on node ${turn}`);
  if (here.length === 0) return pass(`no virtual machine is on node ${turn}`);
  if (stage === 'last') {
    return fail('MachineStays', `still on node ${turn}: ${here.map(({ name }) => name).join(', ')}`);
  }
  return allOf(here.map(judgeMachine), 'virtual machines');
}

function judgeMachine({ name, migratable, why }: VirtualMachine): Verdict {
  if (migratable === null) {
    const message = `nothing says whether virtual machine ${name} can be moved`;
    return unmeasured(`virtual machine ${name}`, 'KubeVirt', 'not-ready', message);
  }
  if (migratable) return pass(`virtual machine ${name} can be moved`);
  return fail('NotMigratable', `virtual machine ${name} cannot be moved${why === '' ? '' : `: ${why}`}`);
}
