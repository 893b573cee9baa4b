/** Where a secret stands; it is read when it is needed and never kept in a specification. */
export type SecretReference = { readonly env: string } | { readonly file: string };

/** How one registry is reached. */
export interface RegistrySettings {
  /** Plain http, for this registry only. [false] */
  readonly plainHttp?: boolean | undefined;
  /** PEM file with the certificates of the authority that signed the registry's; the system's stay trusted. */
  readonly caFile?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: SecretReference | undefined;
}

/** What a registry may lack, each with what to do about it, such as `--plain-http`. */
export interface RegistryRemedies {
  readonly plainHttp: string;
  readonly caFile: string;
  readonly credentials: string;
}

/** The lines of the worker's configuration. */
export function workerRemedies(registry: string): RegistryRemedies {
  const entry = (setting: string) => `registries: { "${registry}": { ${setting} } } in the worker's configuration`;
  return {
    plainHttp: entry('plainHttp: true'),
    caFile: entry('caFile: FILE'),
    // Not as it is written there: `password:` and what follows would be scrubbed.
    credentials: `username and password of registries["${registry}"] in the worker's configuration, or docker login ${registry}`,
  };
}

/** How the registries are reached. Everything has a default: anonymous or docker's own configuration, over TLS. */
export interface RegistryConfig {
  /** By `host` or `host:port` as in an image reference. A user name here outranks every docker configuration. */
  readonly registries?: Readonly<Record<string, RegistrySettings>> | undefined;
  /** A docker `config.json`. [`$DOCKER_CONFIG/config.json` or `~/.docker/config.json`, where there is one] */
  readonly dockerConfig?: string | undefined;
  /** Text of a Secret of type `kubernetes.io/dockerconfigjson`; asked before the file. */
  readonly dockerConfigJson?: (() => Promise<string>) | undefined;
  /** Bound of one request, its redirects and body included. [15 s] */
  readonly timeoutMs?: number | undefined;
  /** Pages of a tag listing that are followed at most. [1000] */
  readonly maxPages?: number | undefined;
  readonly userAgent?: string | undefined;
  /** How messages tell people to set what is missing. [`workerRemedies`: in the worker's configuration] */
  readonly remedies?: RegistryRemedies | undefined;
  /** Epoch milliseconds; for tests. [Date.now] */
  readonly clock?: (() => number) | undefined;
}
