import { z } from 'zod';
import { own } from '../core/own.ts';

export const selectorOperators = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;

const requirementSchema = z.object({
  key: z.string(),
  operator: z.enum(selectorOperators),
  values: z.array(z.string()).nullish(),
});

/** Kubernetes' `metav1.LabelSelector`. */
export const labelSelectorSchema = z.object({
  matchLabels: z.record(z.string(), z.string()).nullish(),
  matchExpressions: z.array(requirementSchema).nullish(),
});

export type LabelSelector = z.output<typeof labelSelectorSchema>;
export type Labels = Readonly<Record<string, string>>;

/** Whether labels are selected. A selector that is there and empty selects everything, one that is absent nothing. */
export function selects(selector: LabelSelector | null, labels: Labels): boolean {
  if (selector === null) return false;
  const { matchLabels, matchExpressions } = selector;
  return (
    Object.entries(matchLabels ?? {}).every(([key, value]) => own(labels, key) === value) &&
    (matchExpressions ?? []).every((requirement) => meets(labels, requirement))
  );
}

function meets(labels: Labels, { key, operator, values }: z.output<typeof requirementSchema>): boolean {
  const value = own(labels, key);
  const named = value !== undefined && (values ?? []).includes(value);
  switch (operator) {
    case 'In':
      return named;
    case 'NotIn':
      return !named;
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}
