import { connect } from 'node:net';

const TIMEOUT_MS = 5_000;

/**
 * Why nothing listens at an address, within seconds and in words; gRPC itself waits for its whole deadline and then
 * says only that it is over.
 *
 * @param address `host:port`
 * @returns null where something listens, and where a proxy stands between so that only gRPC can tell
 */
export async function whyUnreachable(address: string): Promise<string | null> {
  if (usesProxy()) return null;
  const url = URL.parse(`tcp://${address}`);
  if (url === null || url.hostname === '') return 'it is no address; expected host:port, such as localhost:7233';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const socket = connect({ host, port: Number(url.port === '' ? 7233 : url.port) });
  return new Promise((resolve) => {
    const end = (why: string | null): void => {
      socket.destroy();
      resolve(why);
    };
    socket.setTimeout(TIMEOUT_MS, () => end(`no answer within ${TIMEOUT_MS / 1000} s`));
    socket.once('connect', () => end(null));
    socket.once('error', (error: NodeJS.ErrnoException) => end(inWords(error, host)));
  });
}

function inWords(error: NodeJS.ErrnoException, host: string): string {
  switch (error.code) {
    case 'ECONNREFUSED':
      return 'connection refused';
    case 'ENOTFOUND':
      return `there is no host ${host}`;
    case 'EAI_AGAIN':
      return `the name ${host} could not be looked up`;
    default:
      return error.code ?? 'unknown error';
  }
}

/** The variables that gRPC itself honours. */
function usesProxy(): boolean {
  return ['grpc_proxy', 'https_proxy', 'http_proxy'].some((name) => (process.env[name] ?? '') !== '');
}
