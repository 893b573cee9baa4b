import { own, setOwn } from '../core/own.ts';
import { targetName, type TargetSpec } from './spec.ts';
import type { ReleaseState, TargetMemory } from './state.ts';

/** A target that nothing of earlier attempts holds any more. */
export function fresh(memory: TargetMemory): TargetMemory {
  return { ...memory, stuck: null, notBefore: 0, notBegun: null };
}

/** The state with the memories of some targets changed. */
export function changeMemories(
  state: ReleaseState,
  which: (target: TargetSpec) => boolean,
  change: (memory: TargetMemory) => TargetMemory,
): ReleaseState {
  const targets: Record<string, TargetMemory> = { ...state.targets };
  for (const spec of state.spec.targets) {
    const name = targetName(spec);
    const memory = own(targets, name);
    if (memory !== undefined && which(spec)) setOwn(targets, name, change(memory));
  }
  return { ...state, targets };
}
