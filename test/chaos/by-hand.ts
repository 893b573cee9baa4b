import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { kube } from '../lab/kube-api.ts';
import type { LabEnv } from '../lab/lab.ts';

/**
 * Runs the commands that the lock names for a person, as they are pasted: by kubectl, or by the calls that it would make where
 * there is none.
 *
 * @param commands line by line
 * @throws Error where one of them fails
 */
export async function doByHand(env: LabEnv, commands: string): Promise<void> {
  if (hasKubectl()) {
    await promisify(execFile)('sh', ['-euc', commands], { env: { ...process.env, KUBECONFIG: env.kubeconfig } });
    return;
  }
  for (const line of commands.split('\n')) await oneByHand(env, line.replace(/ &&$/, ''));
}

function hasKubectl(): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'kubectl')));
}

async function oneByHand(env: LabEnv, line: string): Promise<void> {
  const merge = (path: string, body: unknown) =>
    kube(env, 'PATCH', path, { body, contentType: 'application/merge-patch+json' });
  const lock = /^\{ kubectl -n (\S+) get configmap (\S+) .* grep -qxF '(\S+)' /.exec(line);
  if (lock !== null) {
    const path = `/api/v1/namespaces/${lock[1] ?? ''}/configmaps/${lock[2] ?? ''}`;
    const { data = {} } = await kube<{ data?: Record<string, string> }>(env, 'GET', path);
    if (`${data['run'] ?? ''}/${data['node'] ?? ''}` !== lock[3])
      throw new Error(`the lock is of another turn: ${line}`);
    return;
  }
  // Looks at the node, which the test has seen by itself.
  if (line.startsWith('{ kubectl get ') || line.startsWith('kubectl wait ')) return;
  const uncordon = /^kubectl uncordon (\S+)$/.exec(line);
  if (uncordon !== null) {
    await merge(`/api/v1/nodes/${uncordon[1] ?? ''}`, { spec: { unschedulable: null } });
    return;
  }
  const annotate = /^kubectl annotate node (\S+) (\S+)-$/.exec(line);
  if (annotate !== null) {
    const annotations = { [annotate[2] ?? '']: null };
    await merge(`/api/v1/nodes/${annotate[1] ?? ''}`, { metadata: { annotations } });
    return;
  }
  const patch = /^kubectl -n (\S+) patch configmap (\S+) --type=merge -p '(.*)'$/.exec(line);
  if (patch === null) throw new Error(`no call is known for: ${line}`);
  await merge(`/api/v1/namespaces/${patch[1] ?? ''}/configmaps/${patch[2] ?? ''}`, JSON.parse(patch[3] ?? ''));
}
