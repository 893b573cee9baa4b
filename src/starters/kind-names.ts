import { suggest } from '../domain/core/suggest.ts';

/** The kinds of documents that this version knows, as specs write them. */
export const kindNames = ['Release', 'KeycloakFlow', 'NodeReboot'] as const;

/** One of the kinds. */
export type KindName = (typeof kindNames)[number];

/** The kind that a person means: in any case, in singular or plural, with hyphens as its worker and its folders have it; undefined where there is none. */
export function findKind(text: string): KindName | undefined {
  const plain = text.toLowerCase().replaceAll('-', '');
  return kindNames.find((kind) => plain === kind.toLowerCase() || plain === `${kind.toLowerCase()}s`);
}

/** What to say of a kind that is not known. */
export function unknownKind(text: string): string {
  const near = suggest(text, kindNames);
  const known = kindNames.map((kind) => kind.toLowerCase()).join(', ');
  const hint = near === undefined ? '' : ` (did you mean ${near.toLowerCase()}?)`;
  return `"${text}" is no kind that this version knows${hint}; it knows: ${known}`;
}
