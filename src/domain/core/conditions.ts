/**
 * One condition of a status, in the form of Kubernetes. `Ready`, `Reconciling` and `Stalled` mean what they mean in
 * Flux (fluxcd/pkg, apis/meta): Ready says whether the last pass came to what is wanted, Reconciling is True while work
 * goes on, Stalled is True while nothing will go on without a person.
 */
export interface Condition {
  readonly type: string;
  readonly status: ConditionStatus;
  /** One CamelCase word that programs may branch on; never empty. */
  readonly reason: string;
  /** A sentence for people; may be empty where the reason says it all. */
  readonly message: string;
  /** When the status last changed, ISO 8601 in UTC. */
  readonly lastTransitionTime: string;
  /** The generation of the spec that was judged. */
  readonly observedGeneration: number;
}

/** `Unknown` is a status of its own: what could not be measured is neither. */
export type ConditionStatus = 'True' | 'False' | 'Unknown';

/** A condition before it is set: when it changed follows from what was there. */
export type ConditionUpdate = Omit<Condition, 'lastTransitionTime'>;

/**
 * The conditions with one of them set, in the order in which they first came. The time of change is kept as long as the
 * status is the same, whatever happens to reason and message.
 *
 * @param now epoch milliseconds
 */
export function setCondition(
  conditions: readonly Condition[],
  update: ConditionUpdate,
  now: number,
): readonly Condition[] {
  const before = getCondition(conditions, update.type);
  const lastTransitionTime = before?.status === update.status ? before.lastTransitionTime : new Date(now).toISOString();
  const { type, status, reason, message, observedGeneration } = update;
  const after: Condition = { type, status, reason, message, lastTransitionTime, observedGeneration };
  if (before === undefined) return [...conditions, after];
  return conditions.map((condition) => (condition.type === type ? after : condition));
}

/** The condition of a type, if it was ever set. */
export function getCondition(conditions: readonly Condition[], type: string): Condition | undefined {
  return conditions.find((condition) => condition.type === type);
}

/** True only for a condition whose status is `True`: unknown and never set are not. */
export function isTrue(conditions: readonly Condition[], type: string): boolean {
  return getCondition(conditions, type)?.status === 'True';
}

/** The conditions without those of a type. */
export function removeCondition(conditions: readonly Condition[], type: string): readonly Condition[] {
  return conditions.filter((condition) => condition.type !== type);
}

/**
 * What is wrong with a set of conditions, for tests to assert that it is nothing (as fluxcd/pkg's
 * `runtime/conditions/check` does): each type once, reasons that are CamelCase words, messages where people need one,
 * and types that do not contradict each other.
 */
export function conditionFaults(conditions: readonly Condition[], generation?: number): readonly string[] {
  return [
    ...conditions.flatMap((condition, index) => faultsOf(condition, conditions.slice(0, index), generation)),
    ...(isTrue(conditions, 'Ready') && isTrue(conditions, 'Reconciling')
      ? ['Ready and Reconciling are both True: what is still being worked on is not ready']
      : []),
    ...(isTrue(conditions, 'Ready') && isTrue(conditions, 'Stalled')
      ? ['Ready and Stalled are both True: what waits for a person is not ready']
      : []),
    ...(isTrue(conditions, 'Reconciling') && isTrue(conditions, 'Stalled')
      ? ['Reconciling and Stalled are both True: what goes on is not stuck']
      : []),
    ...(getCondition(conditions, 'Ready') === undefined ? ['Ready is missing: a status always says it'] : []),
  ];
}

function faultsOf(condition: Condition, earlier: readonly Condition[], generation: number | undefined): string[] {
  const { type, status, reason, message, lastTransitionTime, observedGeneration } = condition;
  const faults: string[] = [];
  if (earlier.some((other) => other.type === type)) faults.push(`${type} is there twice`);
  if (!isCamelCase(type)) faults.push(`the type "${type}" is not one CamelCase word`);
  if (!isCamelCase(reason)) faults.push(`${type}: the reason "${reason}" is not one CamelCase word`);
  if (status !== 'True' && type === 'Ready' && message === '')
    faults.push(`${type} is ${status} and no message says why`);
  if (message !== message.trim()) faults.push(`${type}: the message has white space around it`);
  if (!isInstant(lastTransitionTime)) faults.push(`${type}: "${lastTransitionTime}" is no instant of ISO 8601 in UTC`);
  if (generation !== undefined && observedGeneration > generation) {
    faults.push(`${type} has seen generation ${observedGeneration}, which is yet to come after ${generation}`);
  }
  return faults;
}

function isCamelCase(word: string): boolean {
  return /^[A-Z][A-Za-z0-9]*$/.test(word);
}

function isInstant(text: string): boolean {
  return !Number.isNaN(Date.parse(text)) && new Date(text).toISOString() === text;
}
