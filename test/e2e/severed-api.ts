import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { parse, stringify } from 'yaml';

/** A way to the lab's API server that a test can cut, as where the API server is down: connections are refused. */
export interface SeveredApi {
  /** A kubeconfig that goes this way. */
  readonly kubeconfig: string;
  cut(): Promise<void>;
  restore(): Promise<void>;
  close(): Promise<void>;
}

interface Kubeconfig {
  clusters: { cluster: { server: string } }[];
}

/**
 * @param kubeconfig of the lab
 * @param file where the kubeconfig that goes by the proxy is written
 */
export async function severedApi(kubeconfig: string, file: string): Promise<SeveredApi> {
  const config = parse(readFileSync(kubeconfig, 'utf8')) as Kubeconfig;
  const upstream = new URL(config.clusters[0]?.cluster.server ?? '');
  const sockets = new Set<Socket>();
  let server: Server | null = null;
  let port = 0;

  const relay = (near: Socket): void => {
    const far = connect(Number(upstream.port), upstream.hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  };

  async function restore(): Promise<void> {
    const listening = createServer(relay);
    await new Promise<void>((resolve, reject) => {
      listening.once('error', reject);
      listening.listen(port, '127.0.0.1', resolve);
    });
    port = (listening.address() as AddressInfo).port;
    server = listening;
  }

  async function cut(): Promise<void> {
    const listening = server;
    server = null;
    const closed = new Promise<void>((resolve) => (listening === null ? resolve() : listening.close(() => resolve())));
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  await restore();
  for (const { cluster } of config.clusters) cluster.server = `https://127.0.0.1:${port}`;
  writeFileSync(file, stringify(config), { mode: 0o600 });
  return { kubeconfig: file, cut, restore, close: cut };
}
