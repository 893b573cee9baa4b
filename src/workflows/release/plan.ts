import { pack } from '../../domain/core/packed.ts';
import { evaluate } from '../../domain/release/evaluate.ts';
import { initialState } from '../../domain/release/initial-state.ts';
import { observationOffTheWire } from '../../domain/release/observation-wire.ts';
import { read } from './activities.ts';
import type { PlanInput, PlanOutput } from './messages.ts';

/**
 * What Enforce would do now for a spec that may not be applied yet. One look, one decision, nothing written. What a
 * release that runs remembers (pins and blocks of people) is not in it, but what the objects themselves carry is.
 */
export async function planRelease(input: PlanInput): Promise<PlanOutput> {
  const spec = input.spec;
  const observation = observationOffTheWire(await read.observe({ release: input.name, spec, pin: null }));
  const { evaluation } = evaluate(initialState(input.name, spec, Date.now()), observation, Date.now());
  return { evaluation: pack(evaluation) };
}
