import { z } from 'zod';
import { duration } from '../core/duration.ts';
import { dnsLabel, dnsName } from '../core/kubernetes-name.ts';

/**
 * Which gates are asked, and what they are to expect. Those that read what every cluster has are on unless they are set to
 * false; those of an add-on are on where they are named. Nodes and locks are always looked at.
 */

const objectName = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?\/[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, 'expected NAMESPACE/NAME')
  .max(317);

/** On unless it is set to false. */
function switchable<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.union([z.literal(false), z.strictObject(shape)]);
}

const alertName = z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_]*$/, 'expected the name of an alert, without wildcards');

export const gatesSchema = z.strictObject({
  budgets: switchable({
    expectedBlocked: z
      .array(objectName)
      .max(500)
      .default([])
      .describe('Disruption budgets, as NAMESPACE/NAME, that always allow nothing and are known to.'),
  })
    .prefault({})
    .describe('Disruption budgets that allow no eviction now.'),
  dns: switchable({
    namespace: dnsLabel.default('kube-system'),
    deployment: dnsName.default('coredns'),
    replicas: z.int().min(1).max(100).default(2),
  })
    .prefault({})
    .describe('Ready DNS replicas on different nodes.'),
  host: switchable({
    logindCap: z.boolean().default(true).describe("The kubelet's inhibitor is held and logind lets it last."),
    gracePeriod: duration({ min: 1_000 })
      .optional()
      .describe("What the kubelet's shutdownGracePeriod is [as its file for logind says]."),
    packageManager: z.boolean().default(true).describe('No package manager is at work.'),
    kernel: z.boolean().default(true).describe('The newest bootable kernel is the intended one.'),
  })
    .prefault({})
    .describe('What the node itself says.'),
  releases: z.boolean().default(true).describe('No Release is rolling or soaking on the node.'),
  etcd: z
    .strictObject({
      cluster: dnsName.default('default').describe("One of the worker's configured etcd clusters."),
      members: z.int().min(1).max(15).describe('How many members there are to be.'),
    })
    .optional(),
  alerts: z
    .strictObject({
      prometheus: dnsName.default('default').describe("One of the worker's configured Prometheus servers."),
      blocking: z
        .array(alertName)
        .min(1)
        .max(200)
        .default(['LonghornVolumeDegraded', 'LonghornVolumeFaulted', 'KubeNodeNotReady', 'NodeExporterDown'])
        .describe('Alerts that block, by their whole names; every other one is ignored.'),
      pendingBlocks: z.boolean().default(true).describe('An alert blocks before its `for` is over.'),
    })
    .optional(),
  longhorn: z
    .strictObject({
      namespace: dnsLabel.default('longhorn-system'),
      volumes: z.int().min(1).max(100_000).describe('How many volumes there are to be.'),
      prometheus: dnsName
        .optional()
        .describe("One of the worker's configured Prometheus servers, which is to have the series of each volume."),
    })
    .optional(),
  cloudNativePG: z.strictObject({ clusters: z.int().min(1).max(10_000) }).optional(),
  kubeVirt: z.strictObject({}).optional(),
  nfs: z
    .strictObject({ servers: z.array(z.string().min(1).max(253)).min(1).max(100) })
    .optional()
    .describe('NFS servers that must answer before pods which mount them are moved.'),
  custom: z
    .array(
      z
        .strictObject({
          name: dnsLabel,
          resource: z
            .strictObject({
              apiVersion: z.string().min(1).max(253),
              kind: z.string().min(1).max(63),
              namespace: dnsLabel.optional(),
            })
            .optional(),
          jsonPath: z
            .string()
            .min(1)
            .max(1_000)
            .optional()
            .describe('Of each object; all that it yields must be `equals`.'),
          equals: z.string().max(1_000).optional(),
          query: z.string().min(1).max(2_000).optional().describe('PromQL; each sample must be 1.'),
          prometheus: dnsName.default('default'),
          results: z.int().min(0).max(100_000).describe('How many objects or samples there are to be.'),
        })
        .refine(
          (gate) =>
            gate.query === undefined
              ? gate.resource !== undefined && gate.jsonPath !== undefined && gate.equals !== undefined
              : gate.resource === undefined && gate.jsonPath === undefined && gate.equals === undefined,
          'expected either query, or resource with jsonPath and equals',
        ),
    )
    .max(50)
    .superRefine((gates, context) => {
      for (const [index, { name }] of gates.entries()) {
        if (gates.findIndex((one) => one.name === name) === index) continue;
        context.addIssue({ code: 'custom', path: [index, 'name'], message: `gate "${name}" is named already` });
      }
    })
    .default([])
    .describe('Gates of your own.'),
});

/** The gates of a spec after parsing. */
export type GatesSpec = z.output<typeof gatesSchema>;
