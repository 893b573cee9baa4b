import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withLock } from '../find/build-lock.ts';
import { findProgram, whichProgram } from '../find/find-program.ts';
import { KEYCLOAK } from '../find/programs.ts';
import type { Log } from '../find/run-tool.ts';
import { readProcesses, startProcess, type ProcessSpec } from '../lab-process.ts';
import { readState, writeState } from '../lab-state.ts';
import { isAlive } from '../process-identity.ts';

/** The lab's Keycloak. */
export interface KeycloakAccess {
  /** Plain http, on 127.0.0.1. */
  readonly url: string;
  /** Of the user `admin` of realm `master`. */
  readonly password: string;
}

/** Its start script. */
export function findKeycloak(log: Log): Promise<string> {
  return findProgram(KEYCLOAK, log);
}

export function keycloakUrl(port: number): string {
  return `http://127.0.0.1:${port}`;
}

/**
 * The Keycloak of a lab, which joins it now if it has not yet: half a minute, once for each lab. Ends with the lab.
 *
 * @param lab its folder, as in `inject('lab')`
 * @throws Error when it cannot be had or does not start
 */
export async function keycloakOf(
  lab: { readonly dir: string },
  log: Log = (line) => process.stderr.write(`lab: ${line}\n`),
): Promise<KeycloakAccess> {
  const { dir } = lab;
  return withLock(join(dir, 'keycloak.lock'), async () => {
    const state = readState(dir);
    if (!state) throw new Error(`there is no lab in ${dir}`);
    const { port, password } = state.keycloak;
    const access = { url: keycloakUrl(port), password };
    const known = readProcesses(dir).find(({ spec }) => spec.name === NAME);
    if (known?.id && isAlive(known.id)) return access;
    await startProcess(dir, known?.spec ?? keycloakProcess(dir, await findKeycloak(log), state.keycloak));
    const env = { ...state.env, keycloak: access.url, keycloakPassword: password };
    writeState(dir, { ...state, parts: [...new Set([...state.parts, 'keycloak' as const])], env });
    return access;
  });
}

const NAME = 'keycloak';

/** What `kc.sh` gives to Java (26.x), with a small heap and quick compilation: a lab's server runs for minutes. */
const JAVA_OPTIONS = [
  '-Xms64m',
  '-Xmx512m',
  '-XX:MaxMetaspaceSize=256m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-XX:+ExitOnOutOfMemoryError',
  '-Dfile.encoding=UTF-8',
  '-Djava.util.concurrent.ForkJoinPool.common.threadFactory=io.quarkus.bootstrap.forkjoin.QuarkusForkJoinWorkerThreadFactory',
  ...['java.util', 'java.util.concurrent', 'java.security', 'java.lang'].map(
    (module) => `--add-opens=java.base/${module}=ALL-UNNAMED`,
  ),
  '-Duser.language=en',
  '-Duser.country=US',
  '-Djava.util.logging.manager=org.jboss.logmanager.LogManager',
  '-Dpicocli.disable.closures=true',
  '-Dquarkus-log-max-startup-records=10000',
];

/**
 * Keycloak on plain http, its database a file of the lab that survives a kill. Java is started as it is by `kc.sh`, which
 * stays in between as a shell of its own, so that a kill of the process that was started would leave the server running.
 */
export function keycloakProcess(
  dir: string,
  program: string,
  { port, password }: { port: number; password: string },
): ProcessSpec {
  const java = whichProgram('java');
  if (!java) throw new Error('Keycloak runs on Java 17 or newer, and there is no `java` on PATH');
  const server = dirname(dirname(program));
  const home = join(dir, 'keycloak');
  mkdirSync(join(home, 'data'), { recursive: true });
  // What it writes is the lab's own, what it reads is the cache's.
  for (const folder of ['conf', 'providers', 'themes', 'lib']) {
    if (!existsSync(join(home, folder))) symlinkSync(join(server, folder), join(home, folder));
  }
  return {
    name: NAME,
    command: java,
    args: [
      ...JAVA_OPTIONS,
      `-Dkc.home.dir=${home}`,
      `-Djboss.server.config.dir=${join(home, 'conf')}`,
      '-cp',
      join(server, 'lib', 'quarkus-run.jar'),
      'io.quarkus.bootstrap.runner.QuarkusEntryPoint',
      'start',
      '--optimized',
      '--cache=local',
      '--http-enabled=true',
      '--http-host=127.0.0.1',
      `--http-port=${port}`,
      '--hostname-strict=false',
      // H2 writes a commit up to half a second later unless told otherwise: a kill would lose what Keycloak has answered for.
      '--db-url-properties=;WRITE_DELAY=0',
      '--log-level=warn',
    ],
    env: { KC_BOOTSTRAP_ADMIN_USERNAME: 'admin', KC_BOOTSTRAP_ADMIN_PASSWORD: password },
    ready: { kind: 'http', url: `${keycloakUrl(port)}/realms/master` },
    readyTimeoutMs: 240_000,
  };
}
