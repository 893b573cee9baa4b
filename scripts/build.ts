// `npm run build`: JavaScript in dist/, with the workflows bundled ahead, as the container image ships it.
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const root = fileURLToPath(new URL('..', import.meta.url));
// Not found by PATH: the image's build runs this file with nothing but Node.
const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));

rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true });
const { status, error } = spawnSync(process.execPath, [tsc, '--project', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
if (error !== undefined) throw error;
if (status !== 0) process.exit(status ?? 1);
const { code } = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('../dist/workflows/index.js', import.meta.url)),
});
writeFileSync(new URL('../dist/workflow-bundle.js', import.meta.url), code);
