/** A cluster is not flooded with pods. */
const atOnce = 8;

/** A look ends well within the time that Temporal gives it: the last host may take a minute more. */
const withinMs = 4 * 60_000;

/**
 * Asks something of several nodes, a few at a time. Whoever has not begun when the time is over is not asked any more: hosts
 * of which each takes a minute to say nothing would keep everybody from ever hearing anything.
 *
 * @param late what is known of a node that was not asked in time, as a sentence says
 * @returns the answers, by node, in the order of the names
 */
export async function askSideBySide<T>(
  names: readonly string[],
  ask: (name: string) => Promise<T>,
  late: (name: string, message: string) => T,
  clock: () => number,
): Promise<Record<string, T>> {
  const until = clock() + withinMs;
  const answers = new Map<string, T>();
  const waiting = [...names];

  async function askOn(): Promise<void> {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const isLate = clock() >= until;
      const message = `node ${name} was not asked: the ${answers.size} before it took longer than ${withinMs / 60_000} minutes`;
      answers.set(name, isLate ? late(name, message) : await ask(name));
    }
  }

  await Promise.all(Array.from({ length: Math.min(atOnce, names.length) }, askOn));
  return Object.fromEntries(names.flatMap((name) => (answers.has(name) ? [[name, answers.get(name) as T]] : [])));
}
