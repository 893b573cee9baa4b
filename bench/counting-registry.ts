import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CountingRegistry {
  /** `host:port` to use instead of the registry's. */
  readonly host: string;
  /** Requests so far, such as `HEAD /v2/app/manifests/edge`. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

/** A proxy on loopback before a plain-http registry, which counts what is asked. */
export async function countingRegistry(registry: string): Promise<CountingRegistry> {
  const requests: string[] = [];
  const server = createServer((incoming, answer) => {
    requests.push(`${incoming.method} ${incoming.url}`);
    const [host, port] = registry.split(':');
    const outgoing = send(
      { host, port, method: incoming.method, path: incoming.url, headers: { ...incoming.headers, host: registry } },
      (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(answer);
      },
    );
    outgoing.once('error', () => answer.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
