import { homedir } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { loadKubeConfig } from '../../activities/kubernetes/kubeconfig.ts';
import { createCodecs } from '../../worker/codec.ts';
import { readWorkerConfig } from '../../worker/config.ts';
import { runWorker } from '../../worker/run-worker.ts';
import { CliError } from '../cli-error.ts';
import { findTemporalCli } from '../dev/find-temporal-cli.ts';
import { startTemporalServer, type TemporalServer } from '../dev/temporal-server.ts';
import { clusterConfigs } from '../doctor/needs.ts';
import { exitCodes } from '../exit-codes.ts';
import { untilInterrupted } from '../interrupt.ts';
import { examples } from '../output/examples.ts';
import { paint } from '../output/paint.ts';
import { print } from '../output/print.ts';
import { explainWorkerError } from '../worker-error.ts';

/** `holdfast dev`: everything in one terminal, to try it on a cluster of one's own. */
export function devCommand() {
  return new Command('dev')
    .description(
      'Runs an embedded Temporal server (one SQLite file, with its web UI) and a worker on the current kubeconfig context. Ctrl-C stops both; what was applied is kept for the next time. Not for production: there Temporal runs as a deployment of its own.',
    )
    .option('--port <port>', 'of the Temporal server', parsePort, 7233)
    .option('--ui-port <port>', 'of its web UI', parsePort, 8233)
    .option('--data <folder>', 'where the server keeps its file and log [$XDG_DATA_HOME/holdfast]')
    .option('--config <file>', 'worker configuration [$HOLDFAST_CONFIG, else the current kubeconfig context]')
    .option('--listen <address>', 'host:port of the worker’s /healthz, /readyz and /metrics', '127.0.0.1:0')
    .addHelpText(
      'after',
      examples([
        ['holdfast dev', 'then, elsewhere: holdfast apply -f release.yaml'],
        ['KUBECONFIG=staging.yaml holdfast dev --port 7234 --ui-port 8234', 'beside another one'],
      ]),
    )
    .action(async ({ port, uiPort, data = dataFolder(), config = process.env.HOLDFAST_CONFIG, listen }) => {
      const program = findTemporalCli();
      const cluster = await usableClusters(config);
      const namespace = process.env.TEMPORAL_NAMESPACE ?? 'default';
      const interrupted = untilInterrupted();
      interrupted.addEventListener('abort', () =>
        print('\nHanding back what is under way; Ctrl-C again ends at once.'),
      );
      const server = await startTemporalServer({ program, folder: data, port, uiPort, namespace });
      try {
        print(`Temporal  ${server.address}, namespace ${namespace}, data in ${data}`);
        print(`UI        ${paint('cyan', server.ui)}`);
        print(`Cluster   ${cluster}`);
        await work(server, interrupted, { config, listen });
      } finally {
        await server.stop();
      }
      print('Both have ended; what was applied goes on with the next holdfast dev.');
    });
}

async function work(
  server: TemporalServer,
  interrupted: AbortSignal,
  { config, listen }: { readonly config: string | undefined; readonly listen: string },
): Promise<void> {
  const gone = new AbortController();
  void server.ended.then(() => gone.abort());
  try {
    await runWorker({
      ...(config === undefined ? {} : { configFile: config }),
      listen,
      logLevel: 'warn',
      address: server.address,
      signal: AbortSignal.any([interrupted, gone.signal]),
      onReady: ({ health, address }) => {
        print(`Worker    ready, http://${health}/metrics\n`);
        print('In another terminal:');
        if (!address.endsWith(':7233')) print(`  export TEMPORAL_ADDRESS=${address}`);
        print('  holdfast apply -f release.yaml     in Shadow it only says what it would do');
        print('  holdfast get                       what there is, and what it waits for');
        print('  holdfast status release/NAME       one release, target by target\n');
        print('Ctrl-C stops both.');
      },
    });
  } catch (error) {
    throw await explainWorkerError(error, server.address);
  }
  if (gone.signal.aborted && !interrupted.aborted) {
    throw new CliError(
      exitCodes.undetermined,
      'the embedded Temporal server has ended by itself; its log is temporal.log',
    );
  }
}

/**
 * What the worker will work on, read before anything is started: a worker without a cluster is of no use, the wrong one
 * is worse, and a configuration that is refused is to be told alone.
 *
 * @throws CliError
 */
async function usableClusters(configFile: string | undefined): Promise<string> {
  try {
    const config = await readWorkerConfig(configFile);
    await createCodecs(config);
    const loaded = await Promise.all(clusterConfigs(config).map((cluster) => loadKubeConfig(cluster)));
    if (configFile !== undefined) return `as ${configFile} says`;
    const [current] = loaded;
    return `context ${current?.kubeConfig.getCurrentContext() ?? ''}, ${current?.cluster.server ?? ''}`;
  } catch (error) {
    throw await explainWorkerError(error);
  }
}

function dataFolder(): string {
  return join(process.env.XDG_DATA_HOME ?? join(homedir(), '.local', 'share'), 'holdfast');
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65_535)
    throw new InvalidArgumentError('Expected a port, 1 to 65535.');
  return port;
}
