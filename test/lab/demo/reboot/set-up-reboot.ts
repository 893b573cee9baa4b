import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { stringify } from 'yaml';
import { cordonMark, lockName } from '../../../../src/domain/node-reboot/by-hand.ts';
import { hostPods } from '../../../../src/domain/node-reboot/pod.ts';
import { nodeRebootId } from '../../../../src/workflows/node-reboot/messages.ts';
import { startWorkload } from '../../../e2e/budgeted-workload.ts';
import { deleteNamespace, markAudit } from '../../access.ts';
import { pushBusyboxImage } from '../../busybox-image.ts';
import { kube, kubeGetOrNull } from '../../kube-api.ts';
import { attachLab, type LabEnv } from '../../lab.ts';
import { whyNoRebootNode } from '../../parts/node-precheck.ts';
import { rebootNodesOf } from '../../parts/reboot-nodes.ts';
import type { RebootNode, RebootNodes } from '../../reboot-nodes.ts';
import { waitFor } from '../../wait.ts';
import type { PlayOptions } from '../play.ts';
import { startHoldfast } from '../processes.ts';
import { ownLab, type Undo } from '../set-up.ts';
import { startPager } from './pager.ts';
import { RETURN_SECONDS, type RebootStage } from './reboot-stage.ts';

const NAME = 'control-plane';

/**
 * Three nodes that really reboot, two pods with a budget on the first of them, and a worker.
 *
 * @throws Error where such nodes cannot run here, with what is missing
 */
export async function setUpReboot({ timeline, labFolder, undo, signal }: PlayOptions): Promise<RebootStage> {
  const why = whyNoRebootNode(0);
  if (why !== null) throw new Error(`this story needs three nodes that can be rebooted, and ${why}`);
  const log = (line: string) => timeline.say(`  set-up: ${line}`);
  const lab =
    labFolder === null ? await ownLab(['temporal', 'registry', 'reboot-nodes'], log, undo) : await attachLab(labFolder);
  const { env } = lab;
  // What stands in a lab of the demo's own goes with it.
  const tidy: Undo = labFolder === null ? () => {} : undo;
  signal.throwIfAborted();
  const nodes = await rebootNodesOf(env, log);
  signal.throwIfAborted();
  for (const namespace of [lockName.namespace, hostPods.namespace]) {
    await createNamespaceNamed(env, namespace);
    tidy(() => deleteNamespace({ env }, namespace));
  }
  await createLock(env);
  tidy(() => putRight(env, nodes));
  const image = await pushBusyboxImage(env.registry);
  signal.throwIfAborted();
  log('two pods with a disruption budget, both on reboot-1');
  const shop = await startWorkload(env, image, 'shop', { replicas: 2, startsOn: 'reboot-1', readyAfterSeconds: 3 });
  tidy(() => shop.remove());

  const folder = join(env.dir, 'demo-reboot');
  mkdirSync(folder);
  tidy(() => Promise.resolve(rmSync(folder, { recursive: true, force: true })));
  const specFile = join(folder, 'node-reboot.yaml');
  writeFileSync(specFile, stringify(document(nodes.names)));
  const pager = await startPager(timeline, undo);
  const hook = join(folder, 'pager');
  writeFileSync(hook, pager.url);
  tidy(() => terminate(env));
  signal.throwIfAborted();
  log('starting the worker');
  const worker = 'worker-reboot';
  await startHoldfast(
    lab,
    {
      name: worker,
      folder,
      config: {
        clusters: { default: { kubeconfig: env.kubeconfig } },
        nodeReboot: { hostImage: image },
        notify: [{ name: 'pager', webhook: { file: hook } }],
      },
      env: { TEMPORAL_ADDRESS: env.temporalAddress },
      options: ['--capabilities', 'node-reboot'],
    },
    tidy,
  );
  return {
    lab: env,
    nodes,
    shop,
    pager,
    name: NAME,
    folder,
    specFile,
    worker,
    audit: await markAudit(env),
    since: Date.now(),
  };
}

/** Short where a real one is long: a node rests half an hour, and has a quarter of one to come back. */
function document(nodes: readonly string[]) {
  return {
    apiVersion: 'holdfast.dev/v1alpha1',
    kind: 'NodeReboot',
    metadata: { name: NAME },
    spec: {
      mode: 'Enforce',
      nodes: [...nodes],
      interval: '10s',
      returnTimeout: `${RETURN_SECONDS}s`,
      readyHold: '2s',
      releaseDelay: '2s',
      // These machines have neither DNS nor a logind of their own.
      gates: { dns: false, host: false },
    },
  };
}

async function createNamespaceNamed(env: LabEnv, name: string): Promise<void> {
  await kube(env, 'POST', '/api/v1/namespaces', { body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } } });
}

async function createLock(env: LabEnv): Promise<void> {
  const { namespace, name } = lockName;
  await kube(env, 'POST', `/api/v1/namespaces/${namespace}/configmaps`, {
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } },
  });
}

/** Each node up, Ready, and as it was found, wherever the story was left. */
async function putRight(env: LabEnv, nodes: RebootNodes): Promise<void> {
  for (const name of nodes.names) {
    nodes.setFaults(name, {});
    if (!nodes.isUp(name)) nodes.pressPower(name);
    await waitFor(`${name} is Ready`, () => isReady(env, nodes, name), 120_000);
    nodes.setSentinel(name, null);
    const body = { metadata: { annotations: { [cordonMark]: null } }, spec: { unschedulable: null } };
    await kube(env, 'PATCH', `/api/v1/nodes/${name}`, { body, contentType: 'application/merge-patch+json' });
  }
}

interface NodeObject {
  readonly status: {
    readonly conditions: readonly { readonly type: string; readonly status: string }[];
    readonly nodeInfo: { readonly bootID: string };
  };
}

async function isReady(env: LabEnv, nodes: RebootNodes, name: RebootNode): Promise<boolean> {
  const node = await kubeGetOrNull<NodeObject>(env, `/api/v1/nodes/${name}`);
  const ready = node?.status.conditions.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  return ready && node?.status.nodeInfo.bootID === nodes.bootId(name);
}

async function terminate({ temporalAddress }: LabEnv): Promise<void> {
  const connection = await Connection.connect({ address: temporalAddress });
  try {
    await new Client({ connection }).workflow
      .getHandle(nodeRebootId(NAME))
      .terminate('the demo is over')
      .catch(() => undefined); // it never began
  } finally {
    await connection.close();
  }
}
