import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { createKubernetes } from '../src/activities/kubernetes/create.ts';
import type { KubernetesClient } from '../src/activities/kubernetes/port.ts';
import { releaseSpec, type ReleaseSpecInput } from '../src/domain/release/spec.ts';
import type { ReleaseStatus } from '../src/domain/release/status.ts';
import { RELEASE_QUEUE, RELEASE_WORKFLOW, releaseId, statusQuery } from '../src/workflows/release/messages.ts';
import { startCli, type RunningCli } from '../test/e2e/start-cli.ts';
import { createNamespace, deleteNamespace } from '../test/lab/access.ts';
import { attachLab, startLab, type Lab, type PartName } from '../test/lab/lab.ts';
import { waitFor } from '../test/lab/wait.ts';

/** A lab, a worker in a process of its own, and clients to look at both. */
export interface World {
  readonly lab: Lab;
  readonly client: Client;
  readonly kubernetes: KubernetesClient;
  readonly namespace: string;
  readonly worker: RunningCli;
  /** The machine, for the record. */
  readonly machine: string;
  apply(name: string, spec: ReleaseSpecInput): Promise<WorkflowHandle>;
  close(): Promise<void>;
}

/**
 * Starts what a benchmark runs on. With HOLDFAST_LAB_DIR a running lab is used and left running.
 *
 * @param options.registry `host:port` that the worker asks instead of the lab's [the lab's], such as a counting proxy
 */
export async function openWorld(parts: readonly PartName[], options: { registry?: string } = {}): Promise<World> {
  const running = process.env.HOLDFAST_LAB_DIR;
  const lab = running === undefined ? await startLab({ parts }) : await attachLab(running);
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const config = join(dir, 'worker.yaml');
  const registries = {
    [lab.env.registry]: { plainHttp: true },
    [options.registry ?? lab.env.registry]: { plainHttp: true },
  };
  writeFileSync(config, JSON.stringify({ clusters: { default: { kubeconfig: lab.env.kubeconfig } }, registries }));
  const worker = startCli(['worker', '--config', config, '--listen', '127.0.0.1:0', '--log-level', 'error'], {
    TEMPORAL_ADDRESS: lab.env.temporalAddress,
  });
  await worker.says(/health on http/);
  const connection = await Connection.connect({ address: lab.env.temporalAddress });
  const client = new Client({ connection });
  const kubernetes = await createKubernetes({ name: 'bench', kubeconfig: lab.env.kubeconfig, userAgent: 'bench' });
  const namespace = await createNamespace(lab, 'bench');
  const started: string[] = [];
  return {
    lab,
    client,
    kubernetes,
    namespace,
    worker,
    machine: `${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown processor'}`,
    apply: async (name, spec) => {
      started.push(releaseId(name));
      return client.workflow.start(RELEASE_WORKFLOW, {
        workflowId: releaseId(name),
        taskQueue: RELEASE_QUEUE,
        args: [{ name, spec: releaseSpec.parse(spec) }],
      });
    },
    close: async () => {
      for (const id of started)
        await client.workflow
          .getHandle(id)
          .terminate('the benchmark is over')
          .catch(() => undefined);
      worker.signal('SIGKILL');
      await worker.exited;
      await deleteNamespace(lab, namespace);
      await connection.close();
      await kubernetes.close();
      rmSync(dir, { recursive: true, force: true });
      if (running === undefined) await lab.stop();
    },
  };
}

/** Waits until the release's status holds. */
export async function statusWhere(
  handle: WorkflowHandle,
  what: string,
  holds: (status: ReleaseStatus) => boolean,
  timeoutMs = 120_000,
): Promise<ReleaseStatus> {
  return waitFor(
    what,
    async () => {
      const status = await handle.query(statusQuery);
      return holds(status) ? status : null;
    },
    timeoutMs,
  );
}

/** Median and worst of figures. */
export function spread(figures: readonly number[]): { n: number; min: number; median: number; worst: number } {
  const sorted = [...figures].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return { n: sorted.length, min: at(0), median: at(0.5), worst: sorted.at(-1) ?? Number.NaN };
}
