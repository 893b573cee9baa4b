/** Why a request is refused. Programs may branch on it. */
export type RefusalReason =
  | 'MalformedPath'
  | 'NotListed'
  | 'OtherRealm'
  | 'Query'
  | 'Body'
  | 'Mode'
  | 'Undetermined'
  | 'Protected'
  | 'OutsideBuild'
  | 'Masked';

/** What a rule says of a request: nothing (null) or a refusal. */
export interface Refusal {
  readonly kind: 'refuse';
  readonly reason: RefusalReason;
  readonly message: string;
}

/** A refusal. */
export function refuse(reason: RefusalReason, message: string): Refusal {
  return { kind: 'refuse', reason, message };
}
