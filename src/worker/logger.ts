import { pino, type DestinationStream } from 'pino';
import type { Logger, LogLevel, LogMetadata } from '@temporalio/worker';
import { redact } from '../domain/core/redact.ts';

/**
 * Temporal's Logger over pino: JSON lines on standard error, secrets scrubbed from messages.
 *
 * @param level lowest level that is written
 * @param destination where to [standard error]
 */
export function createLogger(
  level: 'trace' | 'debug' | 'info' | 'warn' | 'error',
  destination: DestinationStream = pino.destination({ dest: 2, sync: false }),
): Logger {
  const out = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  const write = (at: 'trace' | 'debug' | 'info' | 'warn' | 'error', message: string, meta?: LogMetadata): void => {
    out[asMeant.has(message) ? 'debug' : at](plain(meta), redact(message));
  };
  return {
    log: (logLevel: LogLevel, message, meta) => write(LEVELS[logLevel], message, meta),
    trace: (message, meta) => write('trace', message, meta),
    debug: (message, meta) => write('debug', message, meta),
    info: (message, meta) => write('info', message, meta),
    warn: (message, meta) => write('warn', message, meta),
    error: (message, meta) => write('error', message, meta),
  };
}

/** What Temporal warns of and is meant here: the worker of waits runs no workflows. */
const asMeant = new Set(['No workflows registered, not polling for workflow tasks']);

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** Metadata as pino can write it, with errors cut down to what is safe to keep. */
function plain(meta: LogMetadata | undefined): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(meta ?? {})) {
    if (key === 'sdkComponent' || key === 'taskToken') continue;
    if (value instanceof Error) fields[key] = { name: value.name, message: redact(value.message) };
    else if (typeof value === 'bigint') fields[key] = value.toString();
    else if (typeof value === 'string') fields[key] = redact(value);
    else fields[key] = value;
  }
  return fields;
}
