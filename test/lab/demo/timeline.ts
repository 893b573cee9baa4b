import { styleText } from 'node:util';
import { createAbridger, shorten } from './abridge.ts';

/** Who tells a line: the person at the keyboard, Holdfast, the system itself, or the demo's own look at that. */
export type Voice = 'you' | 'holdfast' | 'cluster' | 'keycloak' | 'machine' | 'pager' | 'check';
/** What a line means for the release. */
export type Tone = 'plain' | 'good' | 'bad' | 'waits';

/** What happens, a line each, with the time since the story began. Readable without colour. */
export interface Timeline {
  /** A line outside the story: no time, no voice. */
  say(text?: string): void;
  /** From here on time counts. */
  begin(): void;
  chapter(title: string): void;
  tell(voice: Voice, text: string, tone?: Tone): void;
  /** Another line of what was told last, as it stands. */
  add(text: string, tone?: Tone): void;
  /** Such as `1m 12s`. */
  elapsed(): string;
  /** From here on only `say` is heard. */
  end(): void;
}

const tones = { plain: null, good: 'green', bad: 'red', waits: 'yellow' } as const;
const voices = {
  you: 'cyan',
  holdfast: 'bold',
  cluster: 'dim',
  keycloak: 'dim',
  machine: 'dim',
  pager: 'red',
  check: 'dim',
} as const satisfies Record<Voice, string>;

/**
 * A timeline on a stream; colour only where that is a terminal and NO_COLOR is not set.
 *
 * @param now the clock, epoch milliseconds
 */
export function createTimeline(stream: NodeJS.WriteStream, now: () => number = Date.now): Timeline {
  let began = now();
  let ended = false;
  const abridge = createAbridger();
  const paint = (colour: Parameters<typeof styleText>[0], text: string) => styleText(colour, text, { stream });
  const write = (line: string) => void stream.write(`${line}\n`);
  const clock = () => `${((now() - began) / 1000).toFixed(1)}s`.padStart(7);
  return {
    say: (text = '') => write(text),
    begin: () => {
      began = now();
    },
    chapter(title) {
      if (!ended) write(`\n${paint('bold', title)}`);
    },
    tell(voice, text, tone = 'plain') {
      if (ended) return;
      const colour = tones[tone];
      const line = voice === 'holdfast' ? abridge(text) : shorten(text);
      write(
        `${clock()}  ${paint(voices[voice], voice.padEnd(8))}  ${colour === null ? line : paint(colour, line)}`.trimEnd(),
      );
    },
    add(text, tone = 'plain') {
      if (ended) return;
      const colour = tones[tone];
      write(`${' '.repeat(19)}${colour === null ? text : paint(colour, text)}`);
    },
    end: () => {
      ended = true;
    },
    elapsed() {
      const seconds = Math.round((now() - began) / 1000);
      return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
    },
  };
}
