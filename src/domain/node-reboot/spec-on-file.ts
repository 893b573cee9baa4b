import { z } from 'zod';
import { gatesSchema } from './gates-spec.ts';
import { nodeRebootSpec } from './spec.ts';

/**
 * A NodeReboot's spec as it stands in a file: what this version would not do is refused, since a gate that is named and not
 * asked looks like one that passed.
 */
export const nodeRebootOnFile = nodeRebootSpec.safeExtend({
  gates: gatesSchema
    .safeExtend({
      etcd: unasked('etcd'),
      alerts: unasked('alerts'),
      nfs: unasked('nfs'),
      host: z.literal(false, { error: () => whyUnasked('host') }).default(false),
      custom: z.array(z.never({ error: () => whyUnasked('custom') })).default([]),
    })
    .prefault({}),
  method: z
    .strictObject({
      pod: z.strictObject({}).describe('A privileged pod on the node itself, with the image that the worker is told.'),
    })
    .prefault({ pod: {} }),
});

function unasked(gate: string) {
  return z.never({ error: () => whyUnasked(gate) }).optional();
}

function whyUnasked(gate: string): string {
  return `gate ${gate} is not asked by this version, so that it would hold nothing back: leave it out, and look at what it is for yourself before you approve a node`;
}
