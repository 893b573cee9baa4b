/**
 * What a record has under a name that came from outside; undefined where it has nothing of its own there. A Deployment
 * may be called `constructor`, and what every object inherits under that name is no entry of the record.
 */
export function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Gives a record an entry of its own under any name, `__proto__` included. */
export function setOwn<T>(record: Record<string, T>, name: string, value: T): void {
  Object.defineProperty(record, name, { value, enumerable: true, writable: true, configurable: true });
}
