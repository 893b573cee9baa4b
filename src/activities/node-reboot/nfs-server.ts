import { connect } from 'node:net';
import { read, unmeasured, type Reading } from '../../domain/core/verdict.ts';

/** Where NFS 4 is served (RFC 7530, 3.1). */
const nfsPort = 2049;
const patienceMs = 5_000;

/** Whether an NFS server takes connections, as seen from this worker. One that refuses them is down; silence is not an answer. */
export function askNfsServer(server: string, signal: AbortSignal, port = nfsPort): Promise<Reading<boolean>> {
  const what = `NFS server ${server}`;
  return new Promise((resolve) => {
    const socket = connect({ host: server, port, timeout: patienceMs });
    const done = (answer: Reading<boolean>) => {
      signal.removeEventListener('abort', stop);
      socket.destroy();
      resolve(answer);
    };
    const stop = () => done(unmeasured(what, 'this worker', 'timeout', `${what} was not asked to the end`));
    signal.addEventListener('abort', stop, { once: true });
    socket.once('connect', () => done(read(true)));
    socket.once('timeout', () =>
      done(unmeasured(what, 'this worker', 'timeout', `${what} did not answer within ${patienceMs} ms`)),
    );
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') return done(read(false));
      done(unmeasured(what, 'this worker', 'unreachable', `${what} cannot be reached (${error.code ?? error.name})`));
    });
  });
}
