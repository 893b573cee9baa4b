/** Statuses are asked for at most this often, however many scrapers there are. */
const FRESH_MS = 10_000;

/** Gives the text again while it is fresh, and gathers it once for all who ask meanwhile. */
export function atMostOften(gather: () => Promise<string>): () => Promise<string> {
  let text = '';
  let at = 0;
  let running: Promise<string> | null = null;
  return async () => {
    if (Date.now() - at < FRESH_MS) return text;
    running ??= gather().finally(() => {
      running = null;
    });
    text = await running;
    at = Date.now();
    return text;
  };
}
