import { join } from 'node:path';
import { whichProgram } from './find-program.ts';
import { runTool, type Log } from './run-tool.ts';

export interface GoBuild {
  doing: string;
  /** A module of `test/lab/go`, whose go.mod and go.sum pin everything that is compiled. */
  module: 'kubernetes' | 'registry' | 'reboot-node';
  packages: string[];
  /** File for one package, folder (with a slash at its end) for several. */
  output: string;
  cgo: boolean;
  ldflags?: string;
  log: Log;
}

/** Builds programs of one of the lab's Go modules. @throws Error when there is no Go, or with the end of its output */
export async function goBuild({ doing, module, packages, output, cgo, ldflags, log }: GoBuild): Promise<void> {
  const flags = ['-s', '-w', ...(ldflags ? [ldflags] : [])].join(' ');
  await runTool({
    doing,
    command: goCommand(),
    args: ['build', '-trimpath', '-mod=readonly', '-ldflags', flags, '-o', output, ...packages],
    cwd: join(import.meta.dirname, '..', 'go', module),
    env: { CGO_ENABLED: cgo ? '1' : '0', GOWORK: 'off' },
    log,
  });
}

/** Installs one program of a published module, at exactly that version. */
export async function goInstall(doing: string, packageAtVersion: string, into: string, log: Log): Promise<void> {
  await runTool({
    doing,
    command: goCommand(),
    args: ['install', '-trimpath', '-ldflags', '-s -w', packageAtVersion],
    cwd: into,
    env: { CGO_ENABLED: '0', GOWORK: 'off', GOBIN: into },
    log,
  });
}

function goCommand(): string {
  const go = process.env['HOLDFAST_LAB_GO'] ?? whichProgram('go');
  if (!go) throw new Error('it is built from Go modules, and there is no `go` on PATH (1.24 or newer is needed)');
  return go;
}
