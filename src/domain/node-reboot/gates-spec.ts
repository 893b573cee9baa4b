import { z } from 'zod';
import { eachOnce } from '../core/each-once.ts';
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

const hostName = z
  .string()
  .regex(/^[A-Za-z0-9:]([A-Za-z0-9.:-]*[A-Za-z0-9])?$/, 'expected the name or the address of a server, and no path')
  .max(253);

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
    namespace: dnsLabel.default('kube-system').describe('Of the Deployment.'),
    deployment: dnsName.default('coredns').describe('Which serves DNS.'),
    replicas: z.int().min(1).max(100).default(2).describe('How many are to be ready, on two nodes at least.'),
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
    .optional()
    .describe('The members of etcd: all there, healthy and with a vote.'),
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
    .optional()
    .describe('Alerts of Prometheus that must not be active, with their rules loaded.'),
  longhorn: z
    .strictObject({
      namespace: dnsLabel.default('longhorn-system').describe('Of the volumes of Longhorn.'),
      volumes: z.int().min(1).max(100_000).describe('How many volumes there are to be.'),
      prometheus: dnsName
        .optional()
        .describe("One of the worker's configured Prometheus servers, which is to have the series of each volume."),
    })
    .optional()
    .describe('The volumes of Longhorn: all there, healthy and with copies on other nodes.'),
  cloudNativePG: z
    .strictObject({ clusters: z.int().min(1).max(10_000).describe('How many database clusters there are to be.') })
    .optional()
    .describe('The databases of CloudNativePG: all instances ready, and one that can take over elsewhere.'),
  kubeVirt: z.strictObject({}).optional().describe('Virtual machines on the node can migrate.'),
  nfs: z
    .strictObject({
      servers: z.array(hostName).min(1).max(100).describe('By name or address, as the volumes name them.'),
    })
    .optional()
    .describe('NFS servers that must answer before pods which mount them are moved.'),
  custom: z
    .array(
      z
        .strictObject({
          name: dnsLabel.describe('As `custom.NAME` in status and for `force`.'),
          resource: z
            .strictObject({
              apiVersion: z
                .string()
                .regex(/^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[a-z][a-z0-9]*$/, 'expected GROUP/VERSION, or v1')
                .max(253)
                .describe('Such as ceph.rook.io/v1.'),
              kind: z
                .string()
                .regex(/^[A-Za-z][A-Za-z0-9]*$/, 'expected a kind, such as CephCluster')
                .max(63)
                .describe('Such as CephCluster.'),
              namespace: dnsLabel.optional().describe('Only there [in all namespaces].'),
            })
            .optional()
            .describe('The kind of objects that are read.'),
          jsonPath: z
            .string()
            .min(1)
            .max(1_000)
            .optional()
            .describe('Of each object; all that it yields must be `equals`.'),
          equals: z.string().max(1_000).optional().describe('What each value at `jsonPath` is to be.'),
          query: z.string().min(1).max(2_000).optional().describe('PromQL; each sample must be 1.'),
          prometheus: dnsName.default('default').describe("One of the worker's configured Prometheus servers."),
          results: z.int().min(0).max(100_000).describe('How many objects or samples there are to be.'),
        })
        .superRefine((gate, context) => {
          const ofObjects = (['resource', 'jsonPath', 'equals'] as const).filter((field) => gate[field] !== undefined);
          if (gate.query === undefined ? ofObjects.length === 3 : ofObjects.length === 0) return;
          const has = ofObjects.length === 0 ? 'neither' : ofObjects.join(' and ');
          const what = gate.query === undefined ? has : `query with ${has}`;
          const message = `expected either query, or resource with jsonPath and equals; there is ${what}`;
          context.addIssue({ code: 'custom', path: [], message });
        }),
    )
    .max(50)
    .superRefine(eachOnce(({ name }) => `gate "${name}"`, 'name'))
    .default([])
    .describe('Gates of your own.'),
});

/** The gates of a spec after parsing. */
export type GatesSpec = z.output<typeof gatesSchema>;
