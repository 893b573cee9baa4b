import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HealthServer {
  /** Where it listens, such as `127.0.0.1:9469`. */
  readonly address: string;
  close(): Promise<void>;
}

/**
 * Serves `/healthz` (the process lives), `/readyz` (it polls for work) and `/metrics` (Prometheus text).
 *
 * @param listen `host:port`; port 0 takes a free one
 * @param ready whether the worker polls, asked at each request
 * @param metrics the text, made at each request
 * @throws the listen error, such as EADDRINUSE
 */
export async function serveHealth(
  listen: string,
  ready: () => boolean,
  metrics: () => Promise<string>,
): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0];
    if (path === '/healthz') {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('ok\n');
      return;
    }
    if (path === '/readyz') {
      response.writeHead(ready() ? 200 : 503, { 'content-type': 'text/plain' }).end(ready() ? 'ok\n' : 'not polling\n');
      return;
    }
    if (path === '/metrics') {
      metrics().then(
        (text) => response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(text),
        () => response.writeHead(500, { 'content-type': 'text/plain' }).end('metrics could not be gathered\n'),
      );
      return;
    }
    response.writeHead(404, { 'content-type': 'text/plain' }).end('not found: /healthz, /readyz and /metrics are\n');
  });
  const separator = listen.lastIndexOf(':');
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(Number(listen.slice(separator + 1)), listen.slice(0, separator), resolve);
  });
  const { address, port } = server.address() as AddressInfo;
  return { address: `${address}:${port}`, close: () => closeServer(server) };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
