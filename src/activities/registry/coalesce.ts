/** Asks once for what several ask for at the same time; each gets the one answer. Nothing is kept afterwards. */
export function createCoalescer(): <T>(key: string, ask: () => Promise<T>) => Promise<T> {
  const running = new Map<string, Promise<unknown>>();
  return <T>(key: string, ask: () => Promise<T>): Promise<T> => {
    const known = running.get(key);
    // A key stands for one question, and so for one type of answer.
    if (known !== undefined) return known as Promise<T>;
    const asked = ask().finally(() => running.delete(key));
    running.set(key, asked);
    return asked;
  };
}
