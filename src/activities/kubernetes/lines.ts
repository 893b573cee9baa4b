import { StringDecoder } from 'node:string_decoder';

/** One object with its status is far smaller; what is longer is no watch event. */
const maxLineChars = 32 * 1024 * 1024;

/**
 * Lines of a stream of bytes, each as soon as it is whole. Characters split over two chunks stay whole. The rest behind
 * the last line break is dropped: it was cut off and will be sent again by whoever resumes.
 * @throws Error when a line never ends.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new StringDecoder('utf8');
  let pending = '';
  for await (const chunk of chunks) {
    pending += decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    const lines = pending.split('\n');
    pending = lines.pop() ?? '';
    if (pending.length > maxLineChars) throw new Error(`a line is longer than ${maxLineChars} characters`);
    for (const line of lines) if (line.trim() !== '') yield line;
  }
}
