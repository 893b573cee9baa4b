import { createServer } from 'node:net';

// Below the range from which Linux and macOS take the local ports of outgoing connections: a port of a part that is down for
// a moment must still be free when it comes back.
const LOWEST = 15_000;
const HIGHEST = 32_000;

/**
 * Free TCP ports on the loopback address, one for each name.
 *
 * @param taken ports to leave alone though nothing listens there now: those of other labs
 */
export async function choosePorts<Name extends string>(
  names: readonly Name[],
  taken: ReadonlySet<number>,
): Promise<Record<Name, number>> {
  const chosen = new Set<number>();
  const ports: Partial<Record<Name, number>> = {};
  for (const name of names) {
    const port = await chooseOne((candidate) => taken.has(candidate) || chosen.has(candidate));
    chosen.add(port);
    ports[name] = port;
  }
  return ports as Record<Name, number>;
}

async function chooseOne(isTaken: (port: number) => boolean): Promise<number> {
  for (let attempt = 0; attempt < 1000; attempt += 1) {
    const candidate = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (!isTaken(candidate) && (await isFree(candidate))) return candidate;
  }
  throw new Error(`no free port between ${LOWEST} and ${HIGHEST} on 127.0.0.1`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
