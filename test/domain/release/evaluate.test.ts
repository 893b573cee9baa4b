import { describe, expect, test } from 'vitest';
import { evaluate } from '../../../src/domain/release/evaluate.ts';
import { fleet, image, managed, NOW, observe, planned, resolved, spec, start, viewOf, workload } from './world.ts';

const OLD = image('v6-latest', 'a0');
const NEW = image('v6-latest', 'b1');

describe('a fleet on a moving tag', () => {
  test('is Current where every target runs what the tag resolves to', () => {
    const of = spec();
    const result = evaluate(start(of), observe(of, resolved('b1'), fleet(workload(NEW))), NOW);
    expect(result.evaluation.targets.map((t) => t.phase)).toEqual(['Current', 'Current', 'Current']);
    expect(planned(result)).toEqual([]);
  });

  test('is planned in the order of the spec when the tag has moved', () => {
    const of = spec();
    const result = evaluate(start(of), observe(of, resolved('b1'), fleet(managed(OLD))), NOW);
    expect(result.evaluation.plan.items[0]).toEqual({
      target: 'web-1',
      action: 'roll',
      from: OLD,
      to: NEW,
      toLabel: 'v6-b1',
      why: 'update',
    });
    expect(planned(result)).toEqual(['web-1', 'web-2', 'web-3']);
    expect(viewOf(result)).toMatchObject({ phase: 'Pending', desired: NEW, applied: OLD });
  });
});
