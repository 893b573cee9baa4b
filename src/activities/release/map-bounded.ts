/** Maps with at most `limit` at work at a time, so that a large fleet does not flood an API server. Keeps the order. */
export async function mapBounded<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  const entries = items.entries();
  async function lane(): Promise<void> {
    for (const [index, item] of entries) results[index] = await work(item, index);
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
  return results;
}
