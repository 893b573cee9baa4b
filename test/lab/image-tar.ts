/** One entry of a layer: a file with content, a symbolic link, or a folder without either. */
export interface TarEntry {
  readonly name: string;
  readonly mode: number;
  readonly content?: Uint8Array;
  readonly linkTo?: string;
}

const BLOCK = 512;

/** A USTAR archive without times and owners, so that the same entries give the same bytes on every machine. */
export function tar(entries: readonly TarEntry[]): Buffer {
  const parts: Buffer[] = [];
  for (const entry of entries) {
    const content = Buffer.from(entry.content ?? []);
    parts.push(header(entry, content.length), content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK));
  }
  parts.push(Buffer.alloc(2 * BLOCK));
  return Buffer.concat(parts);
}

function header(entry: TarEntry, size: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(entry.name, 0, 100, 'utf8');
  block.write(octal(entry.mode, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(0, 12), 136);
  block.write(' '.repeat(8), 148);
  block.write(typeOf(entry), 156);
  block.write(entry.linkTo ?? '', 157, 100, 'utf8');
  block.write('ustar\0' + '00', 257);
  const checksum = block.reduce((sum, byte) => sum + byte, 0);
  block.write(checksum.toString(8).padStart(6, '0') + '\0 ', 148);
  return block;
}

function typeOf({ content, linkTo }: TarEntry): string {
  if (linkTo !== undefined) return '2';
  return content === undefined ? '5' : '0';
}

function octal(value: number, width: number): string {
  return value.toString(8).padStart(width - 1, '0') + '\0';
}
