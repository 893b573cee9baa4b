/** Where a secret is kept. Inputs of workflows hold this and never the secret. */
export type Reference = { readonly env: string } | { readonly file: string };

/** Where references are looked up: the worker's environment and its files. */
export interface ReferenceSource {
  readonly env: (name: string) => string | undefined;
  /** Rejects where the file cannot be read. */
  readonly readFile: (path: string) => Promise<string>;
}

/** What a reference leads to, without the line feed that files end with; or why it leads nowhere. */
export async function resolveReference(
  reference: Reference,
  source: ReferenceSource,
): Promise<{ ok: true; value: string; from: string } | { ok: false; message: string }> {
  if ('env' in reference) {
    const from = `the environment variable ${reference.env}`;
    const value = source.env(reference.env)?.trim() ?? '';
    return value === '' ? { ok: false, message: `${from} is not set` } : { ok: true, value, from };
  }
  const from = `the file ${reference.file}`;
  try {
    const value = (await source.readFile(reference.file)).trim();
    return value === '' ? { ok: false, message: `${from} is empty` } : { ok: true, value, from };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    return { ok: false, message: `${from} cannot be read (${code})` };
  }
}
