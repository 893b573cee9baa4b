import type { LabEnv } from '../lab/lab.ts';
import { openStage, type Stage } from './stage.ts';

/** Stages side by side: while one waits for a time-out, the others go on. */
export interface Lanes {
  /** On the next free stage, with a worker that runs. */
  run<T>(work: (stage: Stage) => Promise<T>): Promise<T>;
  /** Each item on a stage of its own for the while. */
  each<I>(items: readonly I[], work: (stage: Stage, item: I) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

export async function openLanes(lab: LabEnv, count: number): Promise<Lanes> {
  const stages = await Promise.all(Array.from({ length: count }, () => openStage(lab)));
  const free = [...stages];
  const waiting: ((stage: Stage) => void)[] = [];

  async function run<T>(work: (stage: Stage) => Promise<T>): Promise<T> {
    const stage = free.pop() ?? (await new Promise<Stage>((resolve) => waiting.push(resolve)));
    try {
      if (!stage.hasWorker()) await stage.startWorker();
      return await work(stage);
    } finally {
      const next = waiting.shift();
      if (next === undefined) free.push(stage);
      else next(stage);
    }
  }

  return {
    run,
    each: async (items, work) => {
      await Promise.all(items.map((item) => run((stage) => work(stage, item))));
    },
    close: async () => {
      await Promise.all(stages.map((stage) => stage.close()));
    },
  };
}
