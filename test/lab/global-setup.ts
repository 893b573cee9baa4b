import type { TestProject } from 'vitest/node';
import { attachLab, DEFAULT_PARTS, startLab, type LabEnv } from './lab.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The lab that the whole test run shares: `inject('lab')`; `attachLab(inject('lab').dir)` to kill and start its parts. */
    lab: LabEnv;
  }
}

/**
 * One lab for the whole test run. With HOLDFAST_LAB_DIR, the running lab in that folder is used and left running, which
 * saves the start when tests are run again and again.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const running = process.env['HOLDFAST_LAB_DIR'];
  if (running) {
    const lab = await attachLab(running);
    project.provide('lab', lab.env);
    return async () => {};
  }
  const lab = await startLab({ parts: DEFAULT_PARTS });
  project.provide('lab', lab.env);
  return () => lab.stop();
}
