import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { existsSync, realpathSync } from 'node:fs';
import { attachLab, DEFAULT_PARTS, PART_NAMES, startLab, type LabEnv, type PartName } from './lab.ts';
import { isAbandoned, listLabs, readState } from './lab-state.ts';
import { readProcesses } from './lab-process.ts';
import { isAlive } from './process-identity.ts';
import { teardown } from './teardown.ts';

const dirOption = () => new Option('--dir <folder>', "the lab's folder").env('HOLDFAST_LAB_DIR');
const outputOption = () =>
  new Option('-o, --output <format>', 'how to print').choices(['text', 'json'] as const).default('text' as const);

const HELP = `
The programs come from a variable (HOLDFAST_LAB_ETCD, HOLDFAST_LAB_KUBE_APISERVER, HOLDFAST_LAB_TEMPORAL and so on, each
naming a file), from PATH, from the cache, or are built into the cache: minutes, once. A real node needs Linux and root.
Use it in a shell: eval "$(npm run -s lab -- up)"`;

const program = new Command('lab')
  .description(
    'Real parts for tests and trials: a Temporal server, a Kubernetes cluster, a registry, Prometheus, Keycloak.',
  )
  .showHelpAfterError()
  .addHelpText('after', HELP)
  .exitOverride((end) => process.exit(end.exitCode === 0 ? 0 : 2))
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'lab: ')) });

program
  .command('up')
  .description('Start a lab in the background and print how to reach it as shell exports.')
  .option('--parts <names>', `which parts, of ${PART_NAMES.join(',')}`, parseParts, [...DEFAULT_PARTS])
  .option('--keycloak', 'with Keycloak beside them')
  .option('--reboot-nodes', 'with three real nodes that can be rebooted')
  .addOption(dirOption())
  .option('--nodes <spec>', 'fake nodes to add, as in amd64=3,arm64=1', parseNodes, [])
  .action(async ({ parts: listed, keycloak, rebootNodes, dir, nodes }) => {
    const parts: PartName[] = [...listed];
    if (keycloak) parts.push('keycloak');
    if (rebootNodes) parts.push('reboot-nodes');
    const running = dir !== undefined && isUpWith(dir, parts);
    const lab = running
      ? await attachLab(dir)
      : await startLab({ parts, ...(dir === undefined ? {} : { dir }), detached: true });
    for (const { arch, count } of nodes) await lab.addNodes({ arch, count });
    printExports(lab.env);
  });

program
  .command('down')
  .description('End a lab and everything it started.')
  .addOption(dirOption())
  .action(async ({ dir }) => {
    const which = theLab(dir);
    if (!listLabs().some((entry) => entry.dir === which)) throw new Error(`there is no lab in ${which}`);
    await teardown(which);
    console.error(`lab: the lab in ${which} is down`);
  });

program
  .command('status')
  .description('What runs of a lab.')
  .addOption(dirOption())
  .addOption(outputOption())
  .action(({ dir, output }) => {
    const which = theLab(dir);
    const state = readState(which);
    const processes = readProcesses(which).map(({ spec, id }) => ({
      name: spec.name,
      pid: id?.pid ?? null,
      running: id !== null && isAlive(id),
    }));
    if (output === 'json') {
      console.log(
        JSON.stringify({ dir: which, ready: state?.ready ?? false, parts: state?.parts ?? [], processes }, null, 2),
      );
      return;
    }
    console.log(`lab in ${which}: ${state?.ready ? 'up' : 'not up'}`);
    for (const { name, pid, running } of processes)
      console.log(`  ${name}: ${running ? `running (${pid})` : 'not running'}`);
    if (state?.env.nodeSkipReason) console.log(`  no real node: ${state.env.nodeSkipReason}`);
  });

program
  .command('env')
  .description('How to reach a lab, as shell exports or JSON.')
  .addOption(dirOption())
  .addOption(outputOption())
  .action(async ({ dir, output }) => {
    const { env } = await attachLab(theLab(dir));
    if (output === 'json') console.log(JSON.stringify(env, null, 2));
    else printExports(env);
  });

function printExports(env: LabEnv): void {
  const exports: Record<string, string> = {
    HOLDFAST_LAB_DIR: env.dir,
    KUBECONFIG: env.kubeconfig,
    TEMPORAL_ADDRESS: env.temporalAddress,
    TEMPORAL_UI: env.temporalUi,
    REGISTRY: env.registry,
    PROMETHEUS_URL: env.prometheus,
    KEYCLOAK_URL: env.keycloak,
    KEYCLOAK_ADMIN_PASSWORD: env.keycloakPassword,
    LAB_AUDIT_LOG: env.auditLog,
    LAB_NODE: env.node ?? '',
  };
  for (const [name, value] of Object.entries(exports)) {
    if (value !== '') console.log(`export ${name}='${value.replaceAll("'", `'\\''`)}'`);
  }
  if (env.nodeSkipReason) console.error(`lab: no real node: ${env.nodeSkipReason}`);
}

/** Whether there is a lab with these parts in the folder already: then `up` has nothing to do. */
function isUpWith(dir: string, parts: readonly PartName[]): boolean {
  const known = existsSync(dir) && listLabs().find((entry) => entry.dir === realpathSync(dir));
  if (!known || isAbandoned(known)) return false;
  const state = readState(known.dir);
  return state !== null && state.ready && parts.every((part) => state.parts.includes(part));
}

/** The lab in the folder given, else the only one there is. */
function theLab(dir: string | undefined): string {
  if (dir !== undefined) return existsSync(dir) ? realpathSync(dir) : dir;
  const labs = listLabs();
  if (labs.length === 1 && labs[0]) return labs[0].dir;
  if (labs.length === 0) throw new Error('no lab is running: start one with `npm run lab -- up`');
  throw new Error(`several labs are running: say which with --dir (${labs.map((lab) => lab.dir).join(', ')})`);
}

function parseParts(text: string): PartName[] {
  return text.split(',').map((name) => {
    const part = PART_NAMES.find((known) => known === name.trim());
    if (!part) throw new InvalidArgumentError(`No part "${name.trim()}": there are ${PART_NAMES.join(', ')}.`);
    return part;
  });
}

function parseNodes(text: string): { arch: string; count: number }[] {
  return text.split(',').map((entry) => {
    const match = /^([a-z0-9]+)=(\d+)$/.exec(entry.trim());
    if (!match?.[1]) throw new InvalidArgumentError('It wants ARCHITECTURE=COUNT, as in amd64=3.');
    return { arch: match[1], count: Number(match[2]) };
  });
}

try {
  await program.parseAsync();
} catch (error) {
  console.error(`lab: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
