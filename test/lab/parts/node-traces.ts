import type { NodeTraces } from '../lab-state.ts';

export async function removeNodeTraces(_traces: NodeTraces, _dir: string): Promise<void> {
  await Promise.resolve();
}
