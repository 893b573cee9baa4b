/** A text of at most so many characters; one that was longer ends in an ellipsis. */
export function clipped(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
