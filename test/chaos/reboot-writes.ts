import type { ApiWrite } from './api-proxy.ts';

/**
 * Names a write of a NodeReboot by what it is to bring about, as in `lock Cordoning of n1`, `cordon n1` or `release`; null for
 * what changes nothing, such as a pod that asks a host.
 */
export function rebootWrite({ method, path, body }: ApiWrite): string | null {
  const name = path.split('/').at(-1) ?? '';
  if (method === 'PATCH' && name === 'node-reboot-lock') return lockWrite(body);
  if (method === 'PATCH' && path.startsWith('/api/v1/nodes/')) {
    const { spec, metadata } = body as {
      spec?: { unschedulable?: boolean | null };
      metadata?: { annotations?: object };
    };
    if (spec?.unschedulable === true) return `cordon ${name}`;
    return 'holdfast.dev/last-visit' in (metadata?.annotations ?? {}) ? `uncordon ${name}` : null;
  }
  if (method !== 'POST') return null;
  if (name === 'eviction') return 'evict';
  const pod = body as { metadata?: { name?: string }; spec?: { nodeName?: string } };
  return pod.metadata?.name?.startsWith('reboot-') === true ? `reboot ${pod.spec?.nodeName ?? ''}` : null;
}

function lockWrite(body: unknown): string {
  const operations = body as readonly { readonly path: string; readonly value?: { phase?: string; node?: string } }[];
  const data = operations.find(({ path }) => path === '/data')?.value ?? {};
  return data.phase === undefined ? 'release' : `lock ${data.phase} of ${data.node ?? ''}`;
}
