import type { ExitCode } from './exit-codes.ts';

/** Ends a command with a message for people and an exit code; no stack trace is shown. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;

  /**
   * @param message names the thing, the reason and the way out; several lines are fine
   */
  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
