import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Where hubs without a machine behind them answer for their health: on loopback, by the target's name. */
export interface HealthServer {
  /** The healthURL of a target. */
  url(target: string): string;
  /** What a target answers from now on [200]. */
  set(target: string, status: number): void;
  close(): Promise<void>;
}

export async function startHealthServer(): Promise<HealthServer> {
  const answers = new Map<string, number>();
  const server = createServer((request, response) => {
    response.writeHead(answers.get((request.url ?? '').slice(1)) ?? 200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (target) => `http://127.0.0.1:${port}/${target}`,
    set: (target, status) => void answers.set(target, status),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
