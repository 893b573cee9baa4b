import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { findProgram } from '../find/find-program.ts';
import { PROMETHEUS } from '../find/programs.ts';
import type { Log } from '../find/run-tool.ts';
import type { ProcessSpec } from '../lab-process.ts';
import { labFiles } from '../paths.ts';

export function findPrometheus(log: Log): Promise<string> {
  return findProgram(PROMETHEUS, log);
}

/** Scrapes every second what a file lists, which tests rewrite; nothing at first. */
export function prometheusProcess(dir: string, program: string, port: number): ProcessSpec {
  const home = join(dir, 'prometheus');
  mkdirSync(home, { recursive: true });
  const targets = labFiles(dir).prometheusTargets;
  writeFileSync(targets, '[]');
  writeFileSync(
    join(home, 'prometheus.yml'),
    stringify({
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      scrape_configs: [{ job_name: 'lab', file_sd_configs: [{ files: [targets], refresh_interval: '1s' }] }],
    }),
  );
  return {
    name: 'prometheus',
    command: program,
    args: [
      `--config.file=${join(home, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(home, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ],
    ready: { kind: 'http', url: `http://127.0.0.1:${port}/-/ready` },
    readyTimeoutMs: 60_000,
  };
}
