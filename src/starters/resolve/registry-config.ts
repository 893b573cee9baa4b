import { accessSync, constants } from 'node:fs';
import type { RegistryConfig } from '../../activities/registry/config.ts';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';

/** How the options of `resolve` say that a registry is reached. */
export interface RegistryOptions {
  readonly plainHttp?: boolean | undefined;
  readonly caFile?: string | undefined;
  readonly dockerConfig?: string | undefined;
}

/**
 * The registry client's configuration for one host.
 *
 * @throws CliError where a file that was named cannot be read
 */
export function registryConfig(host: string, { plainHttp, caFile, dockerConfig }: RegistryOptions): RegistryConfig {
  requireReadable('--ca-file', caFile);
  requireReadable('--docker-config', dockerConfig);
  return {
    registries: { [host]: { plainHttp, caFile } },
    dockerConfig,
    userAgent: 'holdfast',
    remedies: {
      plainHttp: '--plain-http',
      caFile: '--ca-file FILE',
      credentials: `--docker-config FILE, or log in: docker login ${host}`,
    },
  };
}

function requireReadable(option: string, file: string | undefined): void {
  if (file === undefined) return;
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new CliError(exitCodes.invalid, `${option}: ${file} cannot be read (${code})`);
  }
}
