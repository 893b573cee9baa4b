import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { createNamespace, deleteNamespace } from '../access.ts';
import { hostArchitecture } from '../image-binary.ts';
import { attachLab, startLab, type Lab, type PartName } from '../lab.ts';
import { listLabs, registerLab } from '../lab-state.ts';
import { teardown } from '../teardown.ts';
import { identify } from '../process-identity.ts';
import { startFakeHealth, startWorker } from './processes.ts';
import { releaseDocument } from './release-file.ts';
import { openShop, publish } from './shop.ts';
import type { Stage } from './stage.ts';

const PARTS: readonly PartName[] = ['temporal', 'control-plane', 'kwok', 'node', 'registry'];

/** What is to be undone at the end, the newest first. */
export type Undo = (what: () => Promise<void>) => void;

export interface SetUp {
  /** A running lab to play in, which then stays; null to start one, which then goes. */
  readonly labFolder: string | null;
  readonly log: (line: string) => void;
  readonly undo: Undo;
  /** Aborted when it is not to go on. */
  readonly signal: AbortSignal;
}

/** Starts the parts (they are built first where there are none), the shop on its first version, and the worker. */
export async function setUp({ labFolder, log, undo, signal }: SetUp): Promise<Stage> {
  const lab = labFolder === null ? await ownLab(PARTS, log, undo) : await attachLab(labFolder);
  // What stands in a lab of the demo's own goes with it.
  const tidy: Undo = labFolder === null ? () => {} : undo;
  const { env } = lab;
  signal.throwIfAborted();
  const nodes = env.node === null ? await lab.addNodes({ count: 1, arch: hostArchitecture(), prefix: 'demo' }) : [];
  tidy(() => lab.removeNodes(nodes));
  const namespace = await createNamespace(lab, 'shop');
  tidy(() => deleteNamespace(lab, namespace));
  const folder = join(env.dir, `demo-${namespace}`);
  mkdirSync(folder);
  tidy(() => Promise.resolve(rmSync(folder, { recursive: true, force: true })));

  const stage: Stage = {
    lab: env,
    namespace,
    release: labFolder === null ? 'shop' : namespace,
    repository: `${env.registry}/${namespace}/web`,
    folder,
    specFile: join(folder, 'release.yaml'),
    fakeHealth: env.node === null ? await startFakeHealth(lab, namespace, tidy) : null,
  };
  writeFileSync(stage.specFile, stringify(releaseDocument(stage)));
  signal.throwIfAborted();
  log('publishing 1.0.0, and deploying it three times');
  await openShop(stage, await publish(stage, '1.0.0'));
  signal.throwIfAborted();
  log('starting the worker');
  await startWorker(lab, stage, tidy);
  return stage;
}

/** Leaves the lab running when this process ends, until it is taken down by its folder. */
export function keepLab(dir: string): void {
  const entry = listLabs().find((listed) => listed.dir === dir);
  if (entry !== undefined) registerLab({ ...entry, owner: null });
}

/** A lab of this process's own, which goes with it. */
export async function ownLab(parts: readonly PartName[], log: SetUp['log'], undo: Undo): Promise<Lab> {
  // Before the start, so that one which is interrupted half-way is taken down, too.
  undo(takeDownOwnLab);
  return startLab({ parts, log });
}

async function takeDownOwnLab(): Promise<void> {
  const self = identify(process.pid);
  for (const { dir, owner } of listLabs()) {
    if (owner !== null && owner.pid === self?.pid && owner.startedAt === self.startedAt) await teardown(dir);
  }
}
