// `npm run build`: JavaScript in dist/, with the workflows bundled ahead, as the container image ships it.
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

rmSync('dist', { recursive: true, force: true });
const { status } = spawnSync('tsc', ['--project', 'tsconfig.build.json'], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);
const { code } = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('../dist/workflows/index.js', import.meta.url)),
});
writeFileSync('dist/workflow-bundle.js', code);
