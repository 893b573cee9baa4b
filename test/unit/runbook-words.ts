import { readFileSync } from 'node:fs';

/** How a runbook is held against the code that it explains. */

/** @param path from the root of the repository */
export function textOf(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}

/** Whether a word stands in a text by itself, not as a part of another one. */
export function stands(word: string, text: string): boolean {
  return new RegExp(`(?<![A-Za-z])${word}(?![A-Za-z])`).test(text);
}

/** The words in CamelCase that a file writes as texts, each once: what its comments say is not told to anybody. */
export function wordsToldBy(path: string): readonly string[] {
  const code = textOf(path)
    .split('\n')
    .filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line))
    .join('\n');
  return [...new Set([...code.matchAll(/'([A-Z][A-Za-z]+)'/g)].map(([, word = '']) => word))];
}
