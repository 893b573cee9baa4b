/** The stable code of an error, such as ECONNREFUSED: its message may hold an address or a header. */
export function errorCode(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string')
    return error.code;
  return error instanceof Error ? error.name : 'unknown error';
}
