import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../find/find-program.ts';
import { TEMPORAL } from '../find/programs.ts';
import type { Log } from '../find/run-tool.ts';
import type { ProcessSpec } from '../lab-process.ts';

export const TEMPORAL_PORTS = ['temporal', 'temporalUi', 'temporalHttp', 'temporalMetrics'] as const;

/** What a Holdfast worker lists its workflows by; registered at start, as an operator would. */
export const SEARCH_ATTRIBUTES: Readonly<Record<string, 'Keyword' | 'KeywordList'>> = {
  HoldfastKind: 'Keyword',
  HoldfastName: 'Keyword',
  HoldfastPhase: 'Keyword',
  HoldfastWaitingFor: 'Keyword',
  HoldfastCluster: 'KeywordList',
  HoldfastTarget: 'KeywordList',
};

export function findTemporal(log: Log): Promise<string> {
  return findProgram(TEMPORAL, log);
}

/** A development server with its web UI that keeps everything in one SQLite file, so that it survives being killed. */
export function temporalProcess(
  dir: string,
  program: string,
  ports: Record<(typeof TEMPORAL_PORTS)[number], number>,
): ProcessSpec {
  mkdirSync(join(dir, 'temporal'), { recursive: true });
  const flags: Record<string, string> = {
    ip: '127.0.0.1',
    port: String(ports.temporal),
    'ui-port': String(ports.temporalUi),
    'http-port': String(ports.temporalHttp),
    'metrics-port': String(ports.temporalMetrics),
    'db-filename': join(dir, 'temporal', 'temporal.db'),
    'log-level': 'warn',
  };
  return {
    name: 'temporal',
    command: program,
    args: [
      'server',
      'start-dev',
      '--ui-disable-news-fetch',
      ...Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`),
      ...Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => `--search-attribute=${name}=${type}`),
    ],
    ready: {
      kind: 'http',
      url: `http://127.0.0.1:${ports.temporalHttp}/cluster/namespaces/default/search-attributes`,
      contains: Object.keys(SEARCH_ATTRIBUTES),
    },
    readyTimeoutMs: 60_000,
  };
}
