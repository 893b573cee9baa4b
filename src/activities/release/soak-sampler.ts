import type { WatchedTarget } from '../../domain/release/judge-rollout.ts';
import { soakingPods, type SoakSample } from '../../domain/release/judge-soak.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import { askChecks } from './ask-checks.ts';
import type { ReleaseDependencies } from './dependencies.ts';
import { askGate } from './gate.ts';
import type { WatchSoakInput } from './port.ts';
import type { Pulse } from '../pulse.ts';

export interface TakenSample {
  readonly sample: SoakSample;
  /** When it was begun, epoch milliseconds. */
  readonly begun: number;
}

/** Takes one sample at a time, beside the watching. */
export interface Sampler {
  /** Begins one, unless one is under way. */
  begin(live: WatchedTarget, now: number): void;
  /** The sample that is done, once. */
  take(): TakenSample | null;
  busy(): boolean;
  stop(): void;
}

/** Longest that one question of a sample may take. */
const REQUEST_MS = 5_000;

export function createSampler(
  dependencies: ReleaseDependencies,
  port: KubernetesPort,
  input: WatchSoakInput,
  pulse: Pulse,
  outer: AbortSignal,
): Sampler {
  const end = new AbortController();
  const signal = AbortSignal.any([outer, end.signal]);
  let running = false;
  let done: TakenSample | null = null;
  let fault: Error | null = null;

  async function ask(live: WatchedTarget): Promise<SoakSample> {
    const [{ health, agents }, checks] = await Promise.all([
      askGate(port, { ...input, pods: soakingPods(live), timeoutMs: REQUEST_MS, signal }),
      askChecks(dependencies, input.checks, input.target, REQUEST_MS, signal),
    ]);
    return { health: input.health === 'none' ? null : health, agents, checks };
  }

  return {
    busy: () => running,
    stop: () => end.abort(),
    take() {
      if (fault !== null) throw fault;
      const taken = done;
      done = null;
      return taken;
    },
    begin(live, begun) {
      if (running) return;
      running = true;
      void ask(live)
        .then(
          (sample) => {
            done = { sample, begun };
          },
          (error: unknown) => {
            if (!signal.aborted) fault = error instanceof Error ? error : new Error(String(error));
          },
        )
        .finally(() => {
          running = false;
          pulse.happened();
        });
    },
  };
}
