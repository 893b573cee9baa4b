import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killProcess, startProcess } from '../lab/lab-process.ts';
import { findTemporal, TEMPORAL_PORTS, temporalProcess } from '../lab/parts/temporal.ts';
import { choosePorts } from '../lab/ports.ts';

/** A Temporal of one test file, apart from the lab's. */
export interface HastyTemporal {
  readonly address: string;
  close(): Promise<void>;
}

/**
 * A Temporal that suggests to continue as new after a few events, as others do after months of them.
 *
 * @param events after how many
 */
export async function startHastyTemporal(events: number): Promise<HastyTemporal> {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-hasty-'));
  const ports = await choosePorts(TEMPORAL_PORTS, new Set());
  const server = temporalProcess(dir, await findTemporal(() => {}), ports);
  const hasty = ['--dynamic-config-value', `limit.historyCount.suggestContinueAsNew=${events}`];
  await startProcess(dir, { ...server, args: [...server.args, ...hasty] });
  return {
    address: `127.0.0.1:${ports.temporal}`,
    async close() {
      await killProcess(dir, server.name, 'SIGKILL');
      rmSync(dir, { recursive: true });
    },
  };
}
