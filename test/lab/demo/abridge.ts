/** Reasons shorter than this are told each time. */
const WORTH_CUTTING = 40;

/**
 * Makes lines of what Holdfast says: shortened, and with a long reason only the first time. Who it is about and the word
 * for what happened, the first two parts of a line, always stay.
 */
export function createAbridger(): (text: string) => string {
  const told = new Set<string>();
  return (text) => {
    const line = shorten(text);
    const reasons = [...line.matchAll(/[:;] /g)].slice(1).map(({ index }) => index);
    const repeated = reasons.find((at) => told.has(line.slice(at + 2)));
    for (const at of reasons) {
      if (line.length - at > WORTH_CUTTING) told.add(line.slice(at + 2));
    }
    if (repeated === undefined) return line;
    // A bare word would look like news without a reason.
    return `${line.slice(0, repeated)}${repeated === reasons[0] ? ' (why is above)' : ''}`;
  };
}

/** One line with what people need: images by their tag, digests by their first twelve digits. */
export function shorten(text: string): string {
  return text
    .trim()
    .replaceAll(/\s*\n\s*/g, '; ')
    .replace(/[\w.:-]+(?:\/[\w.-]+)+:([\w.-]+)@sha256:[0-9a-f]{64}/g, '$1')
    .replace(/(sha256:[0-9a-f]{12})[0-9a-f]{52}/g, '$1')
    .replace(/(\S+) \(\1\)/g, '$1');
}
