/**
 * The whole of an answer's body as text, or null where it is longer than `mostBytes`. Leaving the loop closes the connection.
 *
 * @throws what the stream throws when the answer breaks off
 */
export async function boundedBody(body: AsyncIterable<Uint8Array>, mostBytes: number): Promise<string | null> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body) {
    length += part.length;
    if (length > mostBytes) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
