import { loadClientConnectConfig } from '@temporalio/envconfig';
import { CliError } from './cli-error.ts';
import { exitCodes } from './exit-codes.ts';
import { whyUnreachable } from './temporal/reach.ts';

/** What to do about a kubeconfig that cannot be used. */
export const kubeconfigWays =
  'set KUBECONFIG, choose a context (kubectl config use-context NAME), or name a kubeconfig under clusters in the worker configuration (--config FILE)';

/**
 * What keeps a worker from starting or running, in words: its configuration, Temporal, or the address it listens on.
 *
 * @param address where Temporal was looked for [as its environment configuration says]
 */
export async function explainWorkerError(error: unknown, address?: string): Promise<unknown> {
  if (!(error instanceof Error) || error instanceof CliError) return error;
  if (error.name === 'KubeconfigError') return new CliError(exitCodes.invalid, `${error.message}; ${kubeconfigWays}`);
  if (error.name === 'ConfigError') return new CliError(exitCodes.invalid, error.message);
  if ('code' in error && error.code === 'EADDRINUSE') {
    return new CliError(exitCodes.invalid, `${error.message}; choose another --listen, such as 127.0.0.1:0`);
  }
  if (error.name !== 'TransportError') return error;
  const temporal = address ?? loadClientConnectConfig().connectionOptions.address ?? 'localhost:7233';
  const why = await whyUnreachable(temporal);
  if (why === null) {
    // It is there, and does not take this worker: its namespace, its key, its TLS.
    return new CliError(
      exitCodes.undetermined,
      `Temporal at ${temporal} does not take the worker: ${error.message}; look at TEMPORAL_NAMESPACE, TEMPORAL_API_KEY and TEMPORAL_TLS, and at what holdfast doctor says`,
    );
  }
  return new CliError(
    exitCodes.undetermined,
    `Temporal at ${temporal} cannot be reached: ${why}; set TEMPORAL_ADDRESS (or TEMPORAL_PROFILE), or try everything here: holdfast dev`,
  );
}
