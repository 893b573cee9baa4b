import { redact } from './redact.ts';

/** How much it matters: `page` wants a person now, `warning` today, `info` is for the record. */
export type Severity = 'info' | 'warning' | 'page';

/** One thing that people should hear of. Plain JSON, without secrets. */
export interface Notification {
  /** One CamelCase word that receivers may route by, such as `RolledBack`. */
  readonly what: string;
  readonly severity: Severity;
  /** What it is about, such as `Release/web, target api`. */
  readonly subject: string;
  /** One or few sentences: what happened, why, and what can be done. */
  readonly text: string;
  /** Equal for repetitions of one thing, so that a retried activity or a replay is not a second message. */
  readonly dedupeKey: string;
}

const longestText = 3_000;

/**
 * A notification with its secrets scrubbed and its text cut to what receivers take.
 *
 * @param occurrence what tells this occurrence from the next of the same kind, such as the id of a rollout
 */
export function notification(
  what: string,
  severity: Severity,
  subject: string,
  text: string,
  occurrence: string,
): Notification {
  const clean = redact(text);
  return {
    what,
    severity,
    subject: redact(subject),
    text: clean.length > longestText ? `${clean.slice(0, longestText)}…` : clean,
    dedupeKey: [what, subject, occurrence].join('/'),
  };
}

/** A notification as one line: for logs, and for receivers that know only text. */
export function formatNotification({ severity, subject, what, text }: Notification): string {
  const mark = severity === 'info' ? '' : `${severity.toUpperCase()} `;
  return `${mark}${subject} ${what}: ${text}`;
}
