import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { findProgram } from '../find/find-program.ts';
import { REGISTRY } from '../find/programs.ts';
import type { Log } from '../find/run-tool.ts';
import type { ProcessSpec } from '../lab-process.ts';

export function findRegistry(log: Log): Promise<string> {
  return findProgram(REGISTRY, log);
}

/** An OCI registry over plain http, for anyone, that keeps its images when it is killed and lets them be deleted. */
export function registryProcess(dir: string, program: string, port: number): ProcessSpec {
  const home = join(dir, 'registry');
  mkdirSync(home, { recursive: true });
  const config = join(home, 'config.yml');
  writeFileSync(
    config,
    stringify({
      version: 0.1,
      log: { level: 'warn', accesslog: { disabled: false } },
      storage: { filesystem: { rootdirectory: join(home, 'images') }, delete: { enabled: true } },
      // Without a fixed secret each start makes a new one and says so as a warning.
      http: { addr: `127.0.0.1:${port}`, secret: 'one registry, one process' },
    }),
  );
  return {
    name: 'registry',
    command: program,
    args: ['serve', config],
    env: { OTEL_TRACES_EXPORTER: 'none' },
    ready: { kind: 'http', url: `http://127.0.0.1:${port}/v2/` },
    readyTimeoutMs: 30_000,
  };
}
