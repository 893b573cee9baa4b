import { Client, Connection } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import { loadClientConnectConfig, type ClientConnectConfig } from '@temporalio/envconfig';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { whyUnreachable } from './reach.ts';
import { explainError } from './explain-error.ts';

/** A connection to Temporal, and where it goes. */
export interface Temporal {
  readonly client: Client;
  readonly connection: Connection;
  readonly address: string;
  readonly namespace: string;
}

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Connects as Temporal's environment configuration says, and closes the connection afterwards. Where payloads are
 * encrypted, `HOLDFAST_CONFIG` names the worker configuration that has the keys.
 *
 * @throws CliError for whatever Temporal answers or does not answer, with the way out
 */
export async function withTemporal<T>(use: (temporal: Temporal) => Promise<T>): Promise<T> {
  const { connectionOptions, namespace = 'default' } = temporalConfig();
  const where = { address: connectionOptions.address ?? 'localhost:7233', namespace };
  const payloadCodecs = await loadCodecs();
  const connection = await open(connectionOptions, where);
  try {
    const client = new Client({ connection, namespace, dataConverter: { payloadCodecs } });
    return await use({ client, connection, ...where });
  } catch (error) {
    throw explainError(error, where);
  } finally {
    await connection.close();
  }
}

/**
 * Where Temporal is, as its environment configuration says.
 *
 * @throws CliError where that cannot be used
 */
export function temporalConfig(): ClientConnectConfig {
  try {
    return loadClientConnectConfig();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CliError(
      exitCodes.invalid,
      `Temporal's configuration cannot be used: ${message}; look at TEMPORAL_PROFILE, TEMPORAL_CONFIG_FILE and the other TEMPORAL_… variables`,
    );
  }
}

async function loadCodecs(): Promise<PayloadCodec[]> {
  const file = process.env.HOLDFAST_CONFIG;
  if (file === undefined || file === '') return [];
  const { createCodecs } = await import('../../worker/codec.ts');
  const { readWorkerConfig } = await import('../../worker/config.ts');
  try {
    return await createCodecs(await readWorkerConfig(file));
  } catch (error) {
    if (error instanceof Error && error.name === 'ConfigError') {
      throw new CliError(exitCodes.invalid, `HOLDFAST_CONFIG: ${error.message}`);
    }
    throw error;
  }
}

async function open(
  options: ClientConnectConfig['connectionOptions'],
  where: { readonly address: string; readonly namespace: string },
): Promise<Connection> {
  const way = 'set TEMPORAL_ADDRESS (or TEMPORAL_PROFILE) to a server that runs, or start one here: holdfast dev';
  const unreachable = await whyUnreachable(where.address);
  if (unreachable !== null) {
    throw new CliError(
      exitCodes.undetermined,
      `Temporal at ${where.address} cannot be reached: ${unreachable}; ${way}`,
    );
  }
  try {
    return await Connection.connect({ ...options, connectTimeout: CONNECT_TIMEOUT_MS });
  } catch (error) {
    if (error instanceof Error && /before the deadline/.test(error.message)) {
      throw new CliError(
        exitCodes.undetermined,
        `Temporal at ${where.address} does not answer within ${CONNECT_TIMEOUT_MS / 1000} s, though something listens there; is it Temporal, and is TLS as it expects (TEMPORAL_TLS)?`,
      );
    }
    throw explainError(error, where);
  }
}
