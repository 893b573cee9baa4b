import { formatDuration } from '../../domain/core/duration.ts';

/** How long a span is, as people say it: `42s`, `3m5s`, `2h10m`, `4d3h`. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 3_600) return formatDuration(seconds * 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 48 * 60)
    return minutes % 60 === 0 ? `${minutes / 60}h` : `${Math.floor(minutes / 60)}h${minutes % 60}m`;
  const hours = Math.floor(minutes / 60);
  return hours % 24 === 0 ? `${hours / 24}d` : `${Math.floor(hours / 24)}d${hours % 24}h`;
}

/** An ISO instant without its milliseconds: `2026-11-30T06:12:03Z`. */
export function toSeconds(instant: string): string {
  return instant.replace(/\.\d+Z$/, 'Z');
}
