import { Command, Option } from '@commander-js/extra-typings';
import { createRegistry } from '../../activities/registry/create.ts';
import { modes, type Mode } from '../../domain/core/mode.ts';
import { fail, unmeasured } from '../../domain/core/verdict.ts';
import { clustersOf } from '../../worker/clusters.ts';
import { readWorkerConfig, type WorkerConfig } from '../../worker/config.ts';
import { keycloakFlowDependencies } from '../../worker/keycloak-flow-activities.ts';
import { CliError } from '../cli-error.ts';
import type { FlowSpec } from '../desired-file.ts';
import { checksExitCode, checksView, type Check } from '../doctor/check.ts';
import { flowClusterNeeds } from '../doctor/flow-rights.ts';
import { keycloakChecks } from '../doctor/keycloak-checks.ts';
import { kubernetesChecks } from '../doctor/kubernetes-checks.ts';
import { clusterNeeds, unknownClusters } from '../doctor/needs.ts';
import {
  rebootClusterNeeds,
  rebootConfigCheck,
  rebootNameChecks,
  unknownRebootClusters,
} from '../doctor/reboot-rights.ts';
import { notifyChecks } from '../doctor/notify-checks.ts';
import { registryChecks } from '../doctor/registry-checks.ts';
import { temporalChecks } from '../doctor/temporal-checks.ts';
import { versionChecks } from '../doctor/version-checks.ts';
import type { KindName } from '../kind-names.ts';
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
      'Looks at everything that a worker needs, from here and as you: Temporal, search attributes, workers, clocks, the clusters and what you may do there, registries, Keycloak and the roles there, versions. Writes nothing. Exit code 1: something is wrong, 3: something could not be looked at.',
    )
    .option('-f, --file <file...>', 'look at what these specs need: namespaces, clusters, registries, Keycloak servers')
    .option('--config <file>', 'worker configuration [$HOLDFAST_CONFIG, else the current kubeconfig context]')
    .addOption(new Option('--mode <mode>', 'what is to be possible [of the specs, else Shadow]').choices(modes))
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([
        ['holdfast doctor -f release.yaml', ''],
        ['holdfast doctor -f keycloak-flow.yaml --config worker.yaml', 'roles, events, probe client'],
        ['holdfast doctor -f node-reboot.yaml --config worker.yaml', 'rights, and the image of the pods on hosts'],
        ['holdfast doctor -f release.yaml --mode Enforce', 'before Enforce is set'],
        ['kubectl -n holdfast exec deploy/holdfast-release -- node bin/holdfast.js doctor', 'as the worker sees it'],
        [
          'kubectl -n holdfast exec -i deploy/holdfast-node-reboot -- node bin/holdfast.js doctor -f - < node-reboot.yaml',
          'the same, of reboots',
        ],
      ]),
    )
    .action(async ({ file = [], config: configFile = process.env.HOLDFAST_CONFIG, mode, output }) => {
      const documents = await requireSpecs(file);
      const specs = documents.flatMap((document) => (document.kind === 'Release' ? [document.spec] : []));
      const flows = documents.flatMap((document) => (document.kind === 'KeycloakFlow' ? [document] : []));
      const campaigns = documents.flatMap((document) => (document.kind === 'NodeReboot' ? [document.spec] : []));
      const config = await readConfig(configFile);
      // Without a file it is about releases, as any cluster could have one; servers of login flows have a realm each.
      const releases = documents.length === 0 || specs.length > 0;
      const asked: KindName[] = [
        ...(releases ? (['Release'] as const) : []),
        ...(flows.length > 0 ? (['KeycloakFlow'] as const) : []),
        ...(campaigns.length > 0 ? (['NodeReboot'] as const) : []),
      ];
      const clusters = [
        ...(releases ? clusterNeeds(config, specs, mode) : []),
        ...flowClusterNeeds(
          config,
          flows.map(({ spec }) => spec),
        ),
        ...rebootClusterNeeds(config, campaigns, mode),
      ];
      const checks = [
        ...versionChecks(),
        ...(await reachTemporal(asked)),
        ...clusterConfigChecks([...unknownClusters(config, specs), ...unknownRebootClusters(config, campaigns)]),
        ...(campaigns.length > 0 ? [rebootConfigCheck(config)] : []),
        ...rebootNameChecks(config, campaigns),
        ...(await notifyChecks(config)),
        ...(await Promise.all(clusters.map(kubernetesChecks))).flat(),
        ...(await registryChecks(createRegistry({ ...config, userAgent: 'holdfast' }), specs)),
        ...(await examineFlows(config, flows, mode)),
      ];
      if (output === 'table') {
        print(checksView(checks));
        if (documents.length === 0) note('Registries and Keycloak were not looked at: name a spec with -f.');
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
async function reachTemporal(kinds: readonly KindName[]): Promise<readonly Check[]> {
  try {
    return await withTemporal((temporal) => temporalChecks(temporal, kinds));
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const verdict = unmeasured('Temporal', 'this machine', 'unreachable', error.message);
    return [{ name: 'Temporal', verdict, fix: null }];
  }
}

/** One after the other: each is a handful of requests to the server that people log in at. */
async function examineFlows(
  config: WorkerConfig,
  flows: readonly FlowSpec[],
  mode: Mode | undefined,
): Promise<readonly Check[]> {
  if (flows.length === 0) return [];
  const { dependencies, problem } = await flowDependencies(config);
  if (dependencies === null) return [problem];
  const checks: Check[] = [];
  for (const { name, spec } of flows) {
    checks.push(...(await keycloakChecks(dependencies, { name, spec, mode: mode ?? spec.mode })));
  }
  for (const server of Object.keys(config.keycloak)) await dependencies.keycloak(server)?.close();
  return checks;
}

/** Clusters are connected only where something is read there; that one cannot be is told with what stands in it. */
async function flowDependencies(config: WorkerConfig) {
  const kubernetes = await clustersOf(config).catch(() => () => null);
  try {
    return { dependencies: keycloakFlowDependencies(config, kubernetes), problem: null };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const fix = 'put it right under keycloak: in the worker configuration (--config)';
    const problem: Check = { name: 'keycloak', verdict: fail('Configuration', message), fix };
    return { dependencies: null, problem };
  }
}

function clusterConfigChecks(unknown: readonly string[]): readonly Check[] {
  return [...new Set(unknown)].map((name) => ({
    name: `cluster ${name}`,
    verdict: fail('UnknownCluster', `a spec names the cluster ${name}, which the worker configuration does not have`),
    fix: `add it under clusters in the worker configuration (--config), or change the spec`,
  }));
}
