import { z } from 'zod';
import { read, unmeasured, type Reading } from '../core/verdict.ts';
import { own } from '../core/own.ts';
import type { Placement } from './observation.ts';

/** What is needed of a spoke's `/api/status`; whatever else it says is let pass. */
const status = z.object({
  initializing: z.boolean().optional(),
  agents: z.array(
    z.object({
      name: z.string().min(1),
      backend: z.string(),
      model: z.string(),
      effort: z.string(),
      paused: z.boolean().default(false),
    }),
  ),
});

/** What is needed of a spoke's override journal (`hive-state.json`): the placements that somebody set, by agent. */
const journal = z.object({
  agents: z
    .record(
      z.string(),
      z.object({
        backend: z.string().optional(),
        model: z.string().optional(),
        effort: z.string().optional(),
        paused: z.boolean().optional(),
      }),
    )
    .default({}),
});

/** Overrides by name of the agent. */
export type Overrides = z.output<typeof journal>['agents'];

/**
 * The agents of a spoke, from the body of its status. One that still initialises does not know its agents yet:
 * unmeasured, never an empty list.
 *
 * @param what that was asked, such as `GET /api/status of pod shop/web`, for messages
 */
export function parseStatus(body: string, what: string): Reading<readonly Placement[]> {
  const parsed = status.safeParse(json(body));
  if (!parsed.success) {
    return unmeasured(what, 'the spoke', 'unparsed', `${what}: the answer is not a status: ${issueOf(parsed.error)}`);
  }
  if (parsed.data.initializing === true) {
    return unmeasured(what, 'the spoke', 'not-ready', `${what}: it is still initializing`);
  }
  return read(parsed.data.agents);
}

/** The overrides in a spoke's journal, from the file's content. */
export function parseJournal(content: string, what: string): Reading<Overrides> {
  const parsed = journal.safeParse(json(content));
  if (parsed.success) return read(parsed.data.agents);
  return unmeasured(what, 'the spoke', 'unparsed', `${what}: it is not a journal: ${issueOf(parsed.error)}`);
}

/** The agents as reported, overlaid with the journal: what people set outlasts what runs right now. */
export function overlayJournal(agents: readonly Placement[], overrides: Overrides): readonly Placement[] {
  return agents.map((agent) => {
    const set = own(overrides, agent.name);
    return {
      name: agent.name,
      backend: set?.backend ?? agent.backend,
      model: set?.model ?? agent.model,
      effort: set?.effort ?? agent.effort,
      paused: set?.paused ?? agent.paused,
    };
  });
}

/** What became of the agents over a swap. */
export interface PlacementChanges {
  /** Names of agents that were there before and are not now. */
  readonly lost: readonly string[];
  /** As they were before, where backend, model or effort differ now. */
  readonly moved: readonly Placement[];
  /** Names of agents that were paused and run now, or the reverse: reported, never changed. */
  readonly paused: readonly string[];
}

/** Compares the agents before a swap with those now. Agents that are new are nobody's concern. */
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

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function issueOf(error: z.ZodError): string {
  const [issue] = error.issues;
  return `${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim();
}
