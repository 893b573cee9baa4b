/** Colours that `paint` makes. */
const COLOURS: ReadonlySet<string> = new Set(['1', '2', '22', '31', '32', '33', '36', '39']);
const COLOUR = /^\[(\d{1,2})m/;
const ESCAPE = 0x1b;

/**
 * The text with whatever would steer a terminal made visible (`\u001b`): names, reasons and messages come from outside,
 * and must not hide, move or rewrite what is shown beside them. Line breaks, tabs and our own colours stay.
 */
export function visible(text: string): string {
  let shown = '';
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const colour = code === ESCAPE ? (COLOUR.exec(text.slice(at + 1, at + 6))?.[1] ?? '') : '';
    shown += steers(code) && !COLOURS.has(colour) ? `\\u${code.toString(16).padStart(4, '0')}` : text.charAt(at);
  }
  return shown;
}

/** C0 and C1 controls save line break and tab, and the marks that turn the direction of writing. */
function steers(code: number): boolean {
  if (code === 0x0a || code === 0x09) return false;
  if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return true;
  return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}
