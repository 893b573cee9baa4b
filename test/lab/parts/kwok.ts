import { join } from 'node:path';
import { findProgram } from '../find/find-program.ts';
import { KWOK } from '../find/programs.ts';
import type { Log } from '../find/run-tool.ts';
import type { ProcessSpec } from '../lab-process.ts';
import { callerKubeconfig } from './control-plane.ts';
import { FAKE_NODE_ANNOTATION } from './fake-nodes.ts';

export function findKwok(log: Log): Promise<string> {
  return findProgram(KWOK, log);
}

/** Plays the kubelet of every node that is marked as fake, and of no other: a real node may stand beside them. */
export function kwokProcess(dir: string, program: string, port: number): ProcessSpec {
  return {
    name: 'kwok',
    command: program,
    args: [
      `--kubeconfig=${callerKubeconfig(dir, 'kwok')}`,
      `--config=${join(import.meta.dirname, 'kwok-stages.yaml')}`,
      `--manage-nodes-with-annotation-selector=${FAKE_NODE_ANNOTATION}=fake`,
      `--server-address=127.0.0.1:${port}`,
      '--node-ip=127.0.0.1',
      // Nobody answers at a fake pod's address. The API server refuses to connect to a loopback one, so that what a test asks
      // of such a pod never leaves the machine.
      '--cidr=127.90.0.1/16',
      '--node-lease-duration-seconds=40',
    ],
    ready: { kind: 'http', url: `http://127.0.0.1:${port}/healthz` },
    readyTimeoutMs: 60_000,
  };
}
