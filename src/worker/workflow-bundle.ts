import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { WorkflowBundleOption } from '@temporalio/worker';
import { bundleWorkflowCode, type Logger } from '@temporalio/worker';

/**
 * The workflows' code for a worker: the bundle that the build made, else one made now (a checkout).
 *
 * @param logger hears the bundler
 */
export async function workflowBundle(logger: Logger): Promise<WorkflowBundleOption> {
  const built = fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));
  if (existsSync(built)) return { codePath: built };
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../workflows/index.ts', import.meta.url)),
    logger,
  });
}
