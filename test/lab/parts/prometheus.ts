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

/** Scrapes every second what a file lists, and evaluates the rules of another one; tests rewrite both, empty at first. */
export function prometheusProcess(dir: string, program: string, port: number): ProcessSpec {
  const home = join(dir, 'prometheus');
  mkdirSync(home, { recursive: true });
  const { prometheusTargets: targets, prometheusRules: rules } = labFiles(dir);
  writeFileSync(targets, '[]');
  writeFileSync(rules, stringify({ groups: [] }));
  writeFileSync(
    join(home, 'prometheus.yml'),
    stringify({
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: [rules],
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
      // Rules are read again when they are asked for, and not by themselves as targets are.
      '--web.enable-lifecycle',
      '--log.level=warn',
    ],
    ready: { kind: 'http', url: `http://127.0.0.1:${port}/-/ready` },
    readyTimeoutMs: 60_000,
  };
}
