/** A number with its noun: `1 pod`, `2 pods`; `1 entry is`, `2 entries are`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
