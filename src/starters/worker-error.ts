import { loadClientConnectConfig } from '@temporalio/envconfig';
import { CliError } from './cli-error.ts';
import { exitCodes } from './exit-codes.ts';
import { whyUnreachable } from './temporal/reach.ts';

/**
 * What keeps a worker from starting or running, in words: its configuration, Temporal, or the address it listens on.
 *
 * @param address where Temporal was looked for [as its environment configuration says]
 */
export async function explainWorkerError(error: unknown, address?: string): Promise<unknown> {
  if (!(error instanceof Error) || error instanceof CliError) return error;
  if (error.name === 'ConfigError') return new CliError(exitCodes.invalid, error.message);
  if ('code' in error && error.code === 'EADDRINUSE') {
    return new CliError(exitCodes.invalid, `${error.message}; choose another --listen, such as 127.0.0.1:0`);
  }
  if (error.name !== 'TransportError') return error;
  const temporal = address ?? loadClientConnectConfig().connectionOptions.address ?? 'localhost:7233';
  const why = (await whyUnreachable(temporal)) ?? error.message;
  return new CliError(
    exitCodes.undetermined,
    `Temporal at ${temporal} cannot be reached: ${why}; set TEMPORAL_ADDRESS (or TEMPORAL_PROFILE), or try everything here: holdfast dev`,
  );
}
