import { z } from 'zod';
import { approverSchema } from '../core/approver.ts';
import { duration, formatDuration } from '../core/duration.ts';
import { eachOnce } from '../core/each-once.ts';
import { modeSchema } from '../core/mode.ts';
import { longestOpen, windowSchema } from '../core/window.ts';
import { gatesSchema } from './gates-spec.ts';
import { parseKernel } from './kernel.ts';
import { nodeSelectorSchema } from './node-selector.ts';
import { dnsLabel, dnsName } from '../core/kubernetes-name.ts';

/**
 * The spec of a NodeReboot as people keep it in git. Durations are written in Go's form and read as milliseconds. Strict
 * throughout. It names a command by its name alone: what reboots a node from outside stands in the worker's configuration.
 */

const kernelSchema = z
  .string()
  .refine((text) => parseKernel(text) !== null, 'expected a kernel release such as 6.13 or 6.14.0-37');

const drainSchema = z.strictObject({
  timeout: duration({ min: 1_000 }).prefault('15m').describe('For all pods of a node together.'),
  deleteEmptyDirData: z.boolean().default(false).describe('Evict pods with an emptyDir, whose data is lost.'),
  deleteBarePods: z.boolean().default(false).describe('Delete pods that nothing creates anew.'),
});

const incumbentSchema = z.strictObject({
  namespace: dnsLabel.default('kube-system').describe('Of its DaemonSet.'),
  daemonSet: dnsName.default('kured').describe('Its DaemonSet: while that has pods, Enforce is held down to Shadow.'),
  lockAnnotation: z
    .string()
    .min(1)
    .max(317)
    .default('weave.works/kured-node-lock')
    .describe('The annotation of the DaemonSet in which it keeps its lock.'),
});

const methodSchema = z.union(
  [
    z.strictObject({
      pod: z.strictObject({}).describe('A privileged pod on the node itself, with the image of the worker.'),
    }),
    z.strictObject({
      command: dnsName.describe(
        "One of the worker's reboot commands by its name, such as a call of SSH, a BMC or Talos.",
      ),
    }),
  ],
  'expected { pod: {} } or { command: NAME }',
);

/** The `spec` of a NodeReboot document. */
export const nodeRebootSpec = z
  .strictObject({
    mode: modeSchema.default('Shadow'),
    suspend: z.boolean().default(false).describe('Stops all looking, and everything that has not begun.'),
    cluster: dnsName.default('default').describe("One of the worker's configured clusters."),
    nodes: z.array(dnsName).min(1).max(500).optional().describe('The nodes, in the order in which they go.'),
    selector: nodeSelectorSchema.optional().describe('The nodes by their labels, in the order of their names.'),
    neverFirst: z
      .array(dnsName)
      .max(500)
      .default([])
      .describe('Nodes that are not to be the first to boot a kernel that no node of the campaign runs yet.'),
    remoteAccess: z
      .array(dnsName)
      .max(500)
      .default([])
      .describe('Nodes by way of which people reach the cluster: they are told before one of them goes.'),
    interval: duration({ min: 10_000 }).prefault('15m').describe('Between looks while nothing is to be done.'),
    windows: z.array(windowSchema).min(1).max(50).optional().describe('When a node may start [always].'),
    worstCase: duration({ min: 60_000 })
      .prefault('1h')
      .describe('What one node may take: nothing starts that may not end within its window.'),
    approval: z
      .enum(['None', 'PerCampaign', 'PerNode'])
      .default('PerNode')
      .describe('Whether a person is asked: for each node, once for all that want a reboot by then, or never.'),
    approvers: z
      .array(approverSchema)
      .min(1)
      .max(100)
      .optional()
      .describe('Whose SSH signature an approval needs; without them anybody may approve.'),
    drain: drainSchema.prefault({}).describe('How the pods of a node are moved.'),
    moveTimeout: duration({ min: 1_000 }).prefault('5m').describe('For database primaries to leave the node.'),
    returnTimeout: duration({ min: 1_000 }).prefault('15m').describe('From the reboot until the node is back.'),
    readyHold: duration({ min: 0 }).prefault('2m').describe('How long the node must be Ready without a break.'),
    settleDeadline: duration({ min: 1_000 }).prefault('2h').describe('For everything to be healthy again.'),
    releaseDelay: duration({ min: 0 }).prefault('30m').describe('From the uncordon until the next node may go.'),
    kernelFloor: kernelSchema.optional().describe('A node that comes back with an older kernel stays cordoned.'),
    memoryFloor: z
      .int()
      .min(1)
      .max(100)
      .default(90)
      .describe('Percent of its memory before, below which a node that comes back stays cordoned.'),
    gates: gatesSchema.prefault({}).describe('What must hold before a node goes, and after.'),
    incumbents: z
      .array(incumbentSchema)
      .max(10)
      .superRefine(eachOnce(({ namespace, daemonSet }) => `${namespace}/${daemonSet}`))
      .default([])
      .describe('Reboot daemons that Holdfast replaces.'),
    method: methodSchema.prefault({ pod: {} }).describe('How a boot is told to end.'),
  })
  .superRefine((spec, context) => {
    if (spec.nodes === undefined && spec.selector === undefined) {
      context.addIssue({ code: 'custom', path: ['nodes'], message: 'expected nodes or selector: which nodes?' });
    }
    if (spec.nodes !== undefined && spec.selector !== undefined) {
      context.addIssue({ code: 'custom', path: ['selector'], message: 'expected either nodes or selector, not both' });
    }
    const open = longestOpen(spec.windows);
    if (open < spec.worstCase) {
      const message = `open for ${formatDuration(open)} at the longest, and worstCase is ${formatDuration(spec.worstCase)}: no node would ever start`;
      context.addIssue({ code: 'custom', path: ['windows'], message });
    }
    const seen = new Set<string>();
    for (const [index, node] of (spec.nodes ?? []).entries()) {
      if (seen.has(node)) {
        context.addIssue({ code: 'custom', path: ['nodes', index], message: `node "${node}" is named already` });
      }
      seen.add(node);
    }
    for (const [index, node] of spec.neverFirst.entries()) {
      if (spec.nodes !== undefined && !seen.has(node)) {
        const message = `node "${node}" is none of spec.nodes, so that it never goes at all`;
        context.addIssue({ code: 'custom', path: ['neverFirst', index], message });
      }
    }
    for (const [index, node] of spec.remoteAccess.entries()) {
      if (spec.nodes !== undefined && !seen.has(node)) {
        const message = `node "${node}" is none of spec.nodes, so that nothing would be told of it`;
        context.addIssue({ code: 'custom', path: ['remoteAccess', index], message });
      }
    }
    if (
      spec.nodes !== undefined &&
      spec.nodes.length > 0 &&
      spec.nodes.every((node) => spec.neverFirst.includes(node))
    ) {
      const message = 'no node may be the first, so that none would ever go';
      context.addIssue({ code: 'custom', path: ['neverFirst'], message });
    }
  });

/** A NodeReboot's spec after parsing: defaults filled in, durations in milliseconds. Plain JSON. */
export type NodeRebootSpec = z.output<typeof nodeRebootSpec>;
/** A NodeReboot's spec as written. */
export type NodeRebootSpecInput = z.input<typeof nodeRebootSpec>;
