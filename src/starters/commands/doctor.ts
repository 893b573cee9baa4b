import { Command, Option } from '@commander-js/extra-typings';
import { createRegistry } from '../../activities/registry/create.ts';
import { modes } from '../../domain/core/mode.ts';
import { fail, unmeasured } from '../../domain/core/verdict.ts';
import type { ReleaseSpec } from '../../domain/release/spec.ts';
import { readWorkerConfig, type WorkerConfig } from '../../worker/config.ts';
import { CliError } from '../cli-error.ts';
import { checksExitCode, checksView, type Check } from '../doctor/check.ts';
import { kubernetesChecks } from '../doctor/kubernetes-checks.ts';
import { clusterNeeds, unknownClusters } from '../doctor/needs.ts';
import { registryChecks } from '../doctor/registry-checks.ts';
import { temporalChecks } from '../doctor/temporal-checks.ts';
import { versionChecks } from '../doctor/version-checks.ts';
import { outputOption, printData } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { note, print } from '../output/print.ts';
import { requireSpecs } from '../spec-files.ts';
import { withTemporal } from '../temporal/connect.ts';
import { explainWorkerError } from '../worker-error.ts';

/** `holdfast doctor`: what is in the way, each with its fix. */
export function doctorCommand() {
  return new Command('doctor')
    .description(
      'Looks at everything that a worker needs, from here and as you: Temporal, search attributes, workers, clocks, the clusters and what you may do there, registries, versions. Writes nothing. Exit code 1: something is wrong, 3: something could not be looked at.',
    )
    .option('-f, --file <file...>', 'look at what these specs need: their namespaces, clusters and registries')
    .option('--config <file>', 'worker configuration [$HOLDFAST_CONFIG, else the current kubeconfig context]')
    .addOption(new Option('--mode <mode>', 'what is to be possible [of the specs, else Shadow]').choices(modes))
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([
        ['holdfast doctor -f release.yaml', ''],
        ['holdfast doctor -f release.yaml --mode Enforce', 'before Enforce is set'],
        ['kubectl -n holdfast exec deploy/holdfast-release -- node bin/holdfast.js doctor', 'as the worker sees it'],
      ]),
    )
    .action(async ({ file = [], config: configFile = process.env.HOLDFAST_CONFIG, mode, output }) => {
      const documents = await requireSpecs(file);
      const specs = documents.flatMap((document) => (document.kind === 'Release' ? [document.spec] : []));
      const config = await readConfig(configFile);
      const checks = [
        ...versionChecks(),
        ...(await reachTemporal()),
        ...clusterConfigChecks(config, specs),
        ...(await Promise.all(clusterNeeds(config, specs, mode).map(kubernetesChecks))).flat(),
        ...(await registryChecks(createRegistry({ ...config, userAgent: 'holdfast' }), specs)),
      ];
      if (output === 'table') {
        print(checksView(checks));
        if (specs.length === 0) note('Registries were not looked at: name a spec with -f.');
      } else {
        printData(output, {
          checks: checks.map(({ name, verdict, fix }) => ({
            name,
            verdict: verdict.kind,
            message: verdict.message ?? '',
            fix: verdict.kind === 'pass' ? null : fix,
          })),
        });
      }
      process.exitCode = checksExitCode(checks);
    });
}

async function readConfig(file: string | undefined): Promise<WorkerConfig> {
  try {
    return await readWorkerConfig(file);
  } catch (error) {
    throw await explainWorkerError(error);
  }
}

/** Temporal that is not reached is one line among the others. */
async function reachTemporal(): Promise<readonly Check[]> {
  try {
    return await withTemporal(temporalChecks);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const verdict = unmeasured('Temporal', 'this machine', 'unreachable', error.message);
    return [{ name: 'Temporal', verdict, fix: null }];
  }
}

function clusterConfigChecks(config: WorkerConfig, specs: readonly ReleaseSpec[]): readonly Check[] {
  return unknownClusters(config, specs).map((name) => ({
    name: `cluster ${name}`,
    verdict: fail('UnknownCluster', `a spec names the cluster ${name}, which the worker configuration does not have`),
    fix: `add it under clusters in the worker configuration (--config), or change the spec`,
  }));
}
