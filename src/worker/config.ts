import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { loadConfig } from '../domain/core/config-file.ts';
import { formatFinding } from '../domain/core/finding.ts';
import { freezeSchema } from '../domain/core/window.ts';
import { rebootCommandSchema } from '../domain/node-reboot/reboot-command.ts';

/**
 * The worker's own configuration: what it may reach and as whom. Secrets stand in files or environment variables that
 * this names; a spec never names any of it.
 */
const inVariable = z.strictObject({ env: z.string().min(1) });
const inFile = z.strictObject({ file: z.string().min(1) });
const secretRef = z.union([inVariable, inFile], {
  error: instead('{ env: NAME } or { file: PATH }'),
});

const clusterSchema = z.union([
  z.strictObject({ inCluster: z.literal(true) }),
  z.strictObject({ kubeconfig: z.string().min(1).optional(), context: z.string().min(1).optional() }),
]);

const registrySchema = z.strictObject({
  plainHttp: z.boolean().default(false),
  caFile: z.string().optional(),
  username: z.string().optional(),
  password: secretRef.optional(),
});

const prometheusSchema = z.strictObject({
  url: z.url({ protocol: /^https?$/, hostname: /.+/ }),
  bearer: secretRef.optional(),
  username: z.string().optional(),
  password: secretRef.optional(),
  caFile: z.string().optional(),
});

const etcdSchema = z.strictObject({
  /** Client URLs, one for each member at best. */
  endpoints: z
    .array(z.url({ protocol: /^https?$/, hostname: /.+/ }))
    .min(1)
    .max(15),
  caFile: z.string().optional(),
  certFile: z.string().optional(),
  keyFile: z.string().optional(),
});

const keycloakSecret = z.union(
  [
    inVariable,
    inFile,
    z.strictObject({
      secret: z.strictObject(
        {
          cluster: z.string().default('default'),
          namespace: z.string().min(1),
          name: z.string().min(1),
          key: z.string().min(1),
        },
        { error: (issue) => (issue.code === 'invalid_type' ? instead('{ namespace, name, key }') : undefined) },
      ),
    }),
  ],
  { error: instead('{ env: NAME }, { file: PATH } or { secret: { namespace, name, key } }') },
);

/** What is said of a secret that was written in the place of its source: not what it is. */
function instead(forms: string): string {
  return `expected where the value stands, ${forms}, got something else`;
}

const keycloakSchema = z.strictObject({
  url: z.url({ protocol: /^https?$/, hostname: /.+/ }),
  /** The realm that the client is in. */
  tokenRealm: z.string().min(1).default('master'),
  clientId: keycloakSecret,
  clientSecret: keycloakSecret,
  caFile: z.string().optional(),
  plainHttp: z.boolean().default(false),
});

const configSchema = z.strictObject({
  clusters: z.record(z.string(), clusterSchema).default({}),
  registries: z.record(z.string(), registrySchema).default({}),
  dockerConfig: z.string().optional(),
  prometheus: prometheusSchema.optional(),
  /** Keycloak servers by the name that specs use; `default` is the one of specs that name none. */
  keycloak: z.record(z.string(), keycloakSchema).default({}),
  /** What the probe users of Keycloak flows log in with, by the names that specs use. */
  secrets: z.record(z.string(), keycloakSecret).default({}),
  /** What it takes to reboot nodes; without it this worker reboots none. */
  nodeReboot: z
    .strictObject({
      /** Of the pods that ask a host or reboot it. It has sh, cat, grep and nsenter. */
      hostImage: z.string().min(1),
      /** What reboots a node from elsewhere, by the names that specs use as `method.command`. */
      commands: z.record(z.string(), rebootCommandSchema).default({}),
      /** By the names that gates use; `default` is the Prometheus above, unless it is named here. */
      prometheus: z.record(z.string(), prometheusSchema).default({}),
      /** By the names that gates use. */
      etcd: z.record(z.string(), etcdSchema).default({}),
    })
    .optional(),
  /** When no release starts anything, such as the year's end. */
  freeze: z.array(freezeSchema).max(50).default([]),
  /** Who is told besides the log. The URL of a webhook is a secret, so that it is named and never written here. */
  notify: z
    .array(
      z.strictObject({
        name: z.string().min(1).optional(),
        webhook: secretRef,
        format: z.enum(['json', 'slack']).default('json'),
      }),
    )
    .default([]),
  /** Encrypts every payload in Temporal; the first key encrypts, all decrypt. */
  codec: z.strictObject({ keys: z.array(z.strictObject({ id: z.string().min(1), key: secretRef })).min(1) }).optional(),
  listen: z.string().default('127.0.0.1:9469'),
});

export type WorkerConfig = z.output<typeof configSchema>;
export type SecretRef = z.output<typeof secretRef>;

/** A configuration that cannot be used; the message names file and path. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reads the worker's configuration file.
 *
 * @param file path of a YAML file; undefined for the defaults: the current kubeconfig context as cluster `default`
 * @throws ConfigError naming file, line and path of what is wrong
 */
export async function readWorkerConfig(file: string | undefined): Promise<WorkerConfig> {
  if (file === undefined) return configSchema.parse({});
  let bytes: Uint8Array;
  try {
    bytes = await readFile(file);
  } catch (error) {
    throw new ConfigError(`${file}: cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
  }
  const loaded = loadConfig({ path: file, bytes }, configSchema);
  if (!loaded.ok) throw new ConfigError(loaded.findings.map(formatFinding).join('\n'));
  return loaded.value;
}

/**
 * The value of a secret, read anew at each call so that a rotated file is honoured.
 *
 * @throws ConfigError where the variable is unset or the file empty or not to be read; never with the value
 */
export async function readSecret(ref: SecretRef): Promise<string> {
  if ('env' in ref) {
    const value = process.env[ref.env];
    if (value === undefined || value === '') throw new ConfigError(`environment variable ${ref.env} is not set`);
    return value;
  }
  let value: string;
  try {
    value = (await readFile(ref.file, 'utf8')).trim();
  } catch (error) {
    throw new ConfigError(`${ref.file}: cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
  }
  if (value === '') throw new ConfigError(`${ref.file}: is empty, and a secret is expected in it`);
  return value;
}
