import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, Runtime, type WorkflowBundleWithSourceMap } from '@temporalio/worker';

let bundle: Promise<WorkflowBundleWithSourceMap> | null = null;

/** The workflows as they are now, bundled once in a process. */
export function workflowBundle(): Promise<WorkflowBundleWithSourceMap> {
  bundle ??= bundled();
  return bundle;
}

function bundled(): Promise<WorkflowBundleWithSourceMap> {
  const logger = new DefaultLogger('ERROR');
  Runtime.install({ logger });
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../src/workflows/index.ts', import.meta.url)),
    logger,
  });
}

export interface ProductCopy {
  /** Of `holdfast`. */
  readonly launcher: string;
  /** Added to the environment of a process of it. */
  readonly env: Readonly<Record<string, string>>;
  remove(): void;
}

/**
 * A copy of the sources with the workflows bundled ahead, as the image ships them: a worker starts with a fraction of
 * the work, which counts where workers are killed by the dozen.
 */
export async function copyProduct(): Promise<ProductCopy> {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-copy-'));
  for (const part of ['bin', 'src', 'package.json']) cpSync(join(root, part), join(dir, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'));
  writeFileSync(join(dir, 'src', 'workflow-bundle.js'), (await workflowBundle()).code);
  return {
    launcher: join(dir, 'bin', 'holdfast.js'),
    env: { NODE_COMPILE_CACHE: join(dir, 'compiled') },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}
