/**
 * A signal that aborts at the first Ctrl-C or SIGTERM. The second one ends the process as it would by itself, so that
 * nobody is held up by a tidy end that does not come.
 */
export function untilInterrupted(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => controller.abort());
  }
  return controller.signal;
}
