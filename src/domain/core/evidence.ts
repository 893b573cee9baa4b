import { counted } from './counted.ts';

/**
 * What a run did and saw, in order, as its result: each reading, write, decision and override with its time, and what
 * was not verified. Plain JSON, so that it survives continue-as-new.
 */
export type EvidenceLog = readonly EvidenceEntry[];

/** One line of the evidence. */
export interface EvidenceEntry {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly kind: EvidenceKind;
  /** What was read, written or decided about, such as `Deployment shop/web`. */
  readonly what?: string;
  /** What it came to, such as `pass`, `unmeasured`, `200` or `approved`. */
  readonly outcome?: string;
  /** A sentence for people. */
  readonly message: string;
  /** Who, as claimed, or as a signature proved. */
  readonly by?: string;
  /** How many entries a gap stands for. */
  readonly dropped?: number;
}

/**
 * `reading`, `write`: what was asked and changed. `decision`, `override`: what people did. `notVerified`: what nobody
 * proved. `outcome`: how a piece of work ended. `gap`: entries that were left out here.
 */
export type EvidenceKind = 'reading' | 'write' | 'decision' | 'override' | 'notVerified' | 'outcome' | 'gap';

/** What an entry may say besides its message. */
export interface EvidenceDetails {
  readonly what?: string;
  readonly outcome?: string;
  readonly by?: string;
}

/** How many entries are kept from the beginning and from the end. */
export interface EvidenceBounds {
  readonly first: number;
  readonly last: number;
}

/** Enough for a rollout of a large fleet, and small beside the 2 MB of a payload. */
export const evidenceBounds: EvidenceBounds = { first: 100, last: 200 };

/** A log with nothing in it. */
export const emptyEvidence: EvidenceLog = [];

const longestMessage = 1_000;

/**
 * The log with one entry more. It never outgrows its bounds: the first and the last entries stay, and one `gap` between
 * them counts what was left out. What nobody proved (`notVerified`) and what people overrode is not left out as long as
 * anything else can go.
 *
 * @param at epoch milliseconds
 */
export function appendEvidence(
  log: EvidenceLog,
  at: number,
  kind: Exclude<EvidenceKind, 'gap'>,
  message: string,
  details: EvidenceDetails = {},
  bounds: EvidenceBounds = evidenceBounds,
): EvidenceLog {
  const entry: EvidenceEntry = {
    at,
    kind,
    ...(details.what === undefined ? {} : { what: details.what }),
    ...(details.outcome === undefined ? {} : { outcome: details.outcome }),
    message: message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message,
    ...(details.by === undefined ? {} : { by: details.by }),
  };
  const all = [...log, entry];
  const kept = all.filter((other) => other.kind !== 'gap');
  return kept.length > bounds.first + bounds.last ? withoutOne(all, bounds) : all;
}

/** What nobody proved. */
export function notVerified(log: EvidenceLog): EvidenceLog {
  return log.filter((entry) => entry.kind === 'notVerified');
}

/** How many entries were left out. */
export function droppedEvidence(log: EvidenceLog): number {
  return log.reduce((sum, entry) => sum + (entry.dropped ?? 0), 0);
}

/** Leaves one entry out: the first after the head that may go, else the first after the head at all. */
function withoutOne(log: EvidenceLog, bounds: EvidenceBounds): EvidenceLog {
  const gapAt = log.findIndex((entry) => entry.kind === 'gap');
  const gap = log[gapAt];
  const entries = log.filter((entry) => entry.kind !== 'gap');
  const head = entries.slice(0, bounds.first);
  const tail = entries.slice(bounds.first);
  const ordinary = tail.slice(0, -1).findIndex((entry) => !mustStay(entry));
  const leave = Math.max(0, ordinary);
  const left = tail[leave];
  if (left === undefined) return log;
  const dropped = (gap?.dropped ?? 0) + 1;
  return [
    ...head,
    {
      at: gap?.at ?? left.at,
      kind: 'gap',
      message: `${counted(dropped, 'entry is', 'entries are')} left out here`,
      dropped,
    },
    ...tail.slice(0, leave),
    ...tail.slice(leave + 1),
  ];
}

function mustStay(entry: EvidenceEntry): boolean {
  return entry.kind === 'notVerified' || entry.kind === 'override';
}
