import type { Pod } from '../../domain/core/workload.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import { askGate, type GateAnswers, type GateQuestion } from './gate.ts';
import type { Pulse } from '../pulse.ts';

/** Asks the gate again and again while pods are ready, beside the watching, and keeps the last answers. */
export interface GateKeeper {
  /**
   * Keeps asking these pods. Other pods than before mean asking anew: what the old ones said counts no longer.
   * @returns their last answers; null before the first
   */
  ask(pods: readonly Pod[]): GateAnswers | null;
  /** Stops asking; the answers are forgotten. */
  rest(): void;
}

/** Pause between two askings. Short: a gate is asked for a few minutes at most, and mostly once. */
const AGAIN_MS = 1_000;

interface Asking {
  readonly key: string;
  readonly stop: AbortController;
  answers: GateAnswers | null;
  fault: Error | null;
}

export function createGateKeeper(
  port: KubernetesPort,
  question: Omit<GateQuestion, 'pods'>,
  pulse: Pulse,
  againMs = AGAIN_MS,
): GateKeeper {
  let asked: Asking | null = null;

  function rest(): void {
    asked?.stop.abort();
    asked = null;
  }

  return {
    rest,
    ask(pods) {
      const key = pods
        .map((pod) => pod.metadata.uid ?? pod.metadata.name)
        .sort()
        .join();
      if (asked?.key === key) {
        if (asked.fault !== null) throw asked.fault;
        return asked.answers;
      }
      rest();
      const stop = new AbortController();
      const run: Asking = { key, stop, answers: null, fault: null };
      asked = run;
      const signal = AbortSignal.any([question.signal, stop.signal]);
      const askOn = async (): Promise<void> => {
        while (!signal.aborted) {
          run.answers = await askGate(port, { ...question, pods, signal });
          pulse.happened();
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, againMs);
            signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
          });
        }
      };
      askOn().catch((error: unknown) => {
        if (signal.aborted) return;
        run.fault = error instanceof Error ? error : new Error(String(error));
        pulse.happened();
      });
      return null;
    },
  };
}
