import { createReadStream } from 'node:fs';

/** Far above what a spec may have: enough to say how large a file is, without reading a disk image whole. */
const MOST_BYTES = 64 * 1024 * 1024;

/** The content of a file; `-` is standard input. Rejects where it cannot be read. */
export async function readBytes(path: string): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  const stream = path === '-' ? process.stdin : createReadStream(path);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MOST_BYTES) break;
  }
  return Buffer.concat(chunks);
}

/** Why a file cannot be read, in words. */
export function whyUnreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  switch (code) {
    case 'ENOENT':
      return 'there is no such file';
    case 'EISDIR':
      return 'it is a directory; name the files in it';
    case 'EACCES':
      return 'permission denied';
    default:
      return code;
  }
}
