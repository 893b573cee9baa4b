import { open } from 'node:fs/promises';

const chunkBytes = 64 * 1_024;

/**
 * Where the last whole line of a file ends, in bytes. A file that is being written to may be seen to end within a line: a
 * write of several pages shows a page after the other.
 */
export async function lineEndOf(path: string): Promise<number> {
  const file = await open(path);
  try {
    let end = (await file.stat()).size;
    while (end > 0) {
      const from = Math.max(0, end - chunkBytes);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(end - from), 0, end - from, from);
      const lineFeed = buffer.lastIndexOf('\n', bytesRead - 1);
      if (lineFeed >= 0) return from + lineFeed + 1;
      end = from;
    }
    return 0;
  } finally {
    await file.close();
  }
}
