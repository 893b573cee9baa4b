import { note } from './print.ts';
import { visible } from './visible.ts';

/** Lines that tell how something goes, on standard error so that they never mix with what was asked for. */
export interface Progress {
  /** Something happened: a line that stays, with its instant. */
  readonly say: (line: string) => void;
  /** What it is at now: one line that is written over on a terminal, and nothing elsewhere. */
  readonly at: (line: string) => void;
  /** Takes the passing line away. */
  readonly end: () => void;
}

const clearLine = '\r\u001b[K';

/**
 * Progress for people on a terminal and for logs elsewhere.
 *
 * @param now the clock, epoch milliseconds
 */
export function createProgress(now: () => number = Date.now): Progress {
  const live = process.stderr.isTTY;
  let shown = false;
  function end(): void {
    if (shown) process.stderr.write(clearLine);
    shown = false;
  }
  return {
    say(line) {
      end();
      note(`${new Date(now()).toISOString().replace(/\.\d+Z$/, 'Z')} ${line}`);
    },
    at(line) {
      if (!live) return;
      const width = Math.max(20, process.stderr.columns - 1);
      const text = visible(line);
      process.stderr.write(clearLine + (text.length > width ? `${text.slice(0, width - 1)}…` : text));
      shown = true;
    },
    end,
  };
}
