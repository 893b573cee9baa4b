import { readFileSync, writeFileSync } from 'node:fs';
import { stringify } from 'yaml';

/** Writes a kubeconfig with one context, readable by its owner only; the certificate is inside, so that it can be copied. */
export function writeKubeconfig(path: string, access: { server: string; caFile: string; token: string }): void {
  const ca = readFileSync(access.caFile).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'lab', cluster: { server: access.server, 'certificate-authority-data': ca } }],
    users: [{ name: 'lab', user: { token: access.token } }],
    contexts: [{ name: 'lab', context: { cluster: 'lab', user: 'lab' } }],
    'current-context': 'lab',
  };
  writeFileSync(path, stringify(config), { mode: 0o600 });
}
