import type { Placement } from '../../domain/release/observation.ts';

/** What became of the agents over a swap. */
export interface PlacementChanges {
  /** Names of agents that were there before and are not now. */
  readonly lost: readonly string[];
  /** As they were before, where backend, model or effort differ now. */
  readonly moved: readonly Placement[];
  /** Names of agents that were paused and run now, or the reverse: reported, never changed. */
  readonly paused: readonly string[];
}

export function comparePlacements(before: readonly Placement[], now: readonly Placement[]): PlacementChanges {
  const byName = new Map(now.map((agent) => [agent.name, agent]));
  const there = before.flatMap((was) => {
    const is = byName.get(was.name);
    return is === undefined ? [] : [{ was, is }];
  });
  return {
    lost: before.filter((was) => !byName.has(was.name)).map((was) => was.name),
    moved: there.filter(({ was, is }) => !runsAs(is, was)).map(({ was }) => was),
    paused: there.filter(({ was, is }) => was.paused !== is.paused).map(({ was }) => was.name),
  };
}

/** Whether an agent runs as a placement says; `paused` does not count. */
export function runsAs(agent: Placement, wanted: Placement): boolean {
  return agent.backend === wanted.backend && agent.model === wanted.model && agent.effort === wanted.effort;
}
