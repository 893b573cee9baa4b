import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { CAPABILITIES, runWorker, type Capability } from '../../worker/run-worker.ts';
import { suggest } from '../../domain/core/suggest.ts';
import { untilInterrupted } from '../interrupt.ts';
import { examples } from '../output/examples.ts';
import { note } from '../output/print.ts';
import { temporalConfig } from '../temporal/connect.ts';
import { explainWorkerError } from '../worker-error.ts';

const levels = ['debug', 'info', 'warn', 'error'] as const;

/** `holdfast worker`: the process that does the work. */
export function workerCommand() {
  return new Command('worker')
    .description(
      'Runs the worker: it reads clusters, registries and Keycloak and carries out plans. It reboots nodes where its configuration names the image for that. SIGTERM or Ctrl-C hands its work back; another worker, or this one after its restart, goes on where it was.',
    )
    .option(
      '--capabilities <list>',
      `what it works on, comma-separated, of ${CAPABILITIES.join(',')} [all; node-reboot where the configuration says how]`,
      parseCapabilities,
    )
    .option(
      '--config <file>',
      'clusters, registries, Keycloak, Prometheus, codec [$HOLDFAST_CONFIG, else the current kubeconfig context]',
    )
    .option('--listen <address>', 'host:port of /healthz, /readyz and /metrics [127.0.0.1:9469]')
    .option('--log-level <level>', `one of ${levels.join(', ')}`, parseLevel)
    .addHelpText(
      'after',
      examples([
        ['holdfast worker', 'on the current kubeconfig context'],
        ['holdfast worker --config worker.yaml --listen 0.0.0.0:9469', ''],
        [
          'holdfast worker --capabilities keycloak-flow --config worker.yaml',
          'login flows alone, as an account of its own',
        ],
        ['holdfast worker --capabilities node-reboot --config worker.yaml', 'reboots of nodes alone'],
      ]),
    )
    .action(async ({ capabilities, config = process.env.HOLDFAST_CONFIG, listen, logLevel }) => {
      temporalConfig();
      try {
        await runWorker({
          ...(capabilities === undefined ? {} : { capabilities }),
          ...(config === undefined ? {} : { configFile: config }),
          ...(listen === undefined ? {} : { listen }),
          ...(logLevel === undefined ? {} : { logLevel }),
          signal: untilInterrupted(),
          onReady: ({ health, namespace, address }) =>
            note(`Worker polls namespace ${namespace} of ${address}; health on http://${health}/readyz`),
        });
      } catch (error) {
        throw await explainWorkerError(error);
      }
    });
}

function parseCapabilities(text: string): readonly Capability[] {
  return text.split(',').map((word) => {
    const capability = CAPABILITIES.find((known) => known === word.trim());
    if (capability !== undefined) return capability;
    const near = suggest(word.trim(), CAPABILITIES);
    throw new InvalidArgumentError(
      `"${word}" is no capability${near === undefined ? '' : ` (did you mean ${near}?)`}; there are: ${CAPABILITIES.join(', ')}.`,
    );
  });
}

function parseLevel(text: string): (typeof levels)[number] {
  const level = levels.find((known) => known === text);
  if (level === undefined) throw new InvalidArgumentError(`Expected ${levels.join(', ')}.`);
  return level;
}
