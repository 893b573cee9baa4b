import { z } from 'zod';
import { selectorOperators } from './label-selector.ts';

/** By which labels a spec chooses its nodes: as in Kubernetes, and never nothing at all, which would be every node. */

const labelName = /^(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

const keySchema = z
  .string()
  .regex(labelName, 'expected the key of a label, such as node-role.kubernetes.io/control-plane')
  .max(317);

const valueSchema = z
  .string()
  .regex(
    /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/,
    'expected the value of a label: at most 63 letters, digits, -, _ and .',
  );

const requirementSchema = z
  .strictObject({
    key: keySchema.describe('The key of a label.'),
    operator: z.enum(selectorOperators).describe('As in Kubernetes.'),
    values: z.array(valueSchema).min(1).max(100).optional().describe('For In and NotIn alone.'),
  })
  .superRefine(({ operator, values }, context) => {
    const takesValues = operator === 'In' || operator === 'NotIn';
    if (takesValues === (values !== undefined)) return;
    const message = takesValues ? `${operator} needs values` : `${operator} takes no values`;
    context.addIssue({ code: 'custom', path: ['values'], message });
  });

export const nodeSelectorSchema = z
  .strictObject({
    matchLabels: z.record(keySchema, valueSchema).optional().describe('Labels that a node has, all of them.'),
    matchExpressions: z
      .array(requirementSchema)
      .max(20)
      .optional()
      .describe('What else holds of its labels, all of it: `DoesNotExist` leaves the control plane out.'),
  })
  .refine(
    ({ matchLabels = {}, matchExpressions = [] }) => Object.keys(matchLabels).length + matchExpressions.length > 0,
    "expected one label at least; every node has kubernetes.io/os: 'linux'",
  );

export type NodeSelector = z.output<typeof nodeSelectorSchema>;

/** A selector as the API takes it and `kubectl get nodes -l` does. */
export function nodeSelectorText({ matchLabels = {}, matchExpressions = [] }: NodeSelector): string {
  return [
    ...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`),
    ...matchExpressions.map(({ key, operator, values = [] }) => {
      switch (operator) {
        case 'In':
          return `${key} in (${values.join(',')})`;
        case 'NotIn':
          return `${key} notin (${values.join(',')})`;
        case 'Exists':
          return key;
        case 'DoesNotExist':
          return `!${key}`;
      }
    }),
  ].join(',');
}
