import type { Applied } from './temporal/apply-entity.ts';

/** `release/hive configured: applies a new spec: soak`. */
export function appliedLine(object: string, { result, message }: Applied): string {
  return `${object} ${result}${result === 'configured' && message !== null ? `: ${message}` : ''}`;
}
