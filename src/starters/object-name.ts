import { InvalidArgumentError } from '@commander-js/extra-typings';
import { findKind, unknownKind, type KindName } from './kind-names.ts';

/** What a command is about, as people write it: `release/hive`. */
export interface ObjectName {
  readonly kind: KindName;
  readonly name: string;
}

/**
 * Reads `KIND/NAME`, the kind in any case.
 *
 * @throws InvalidArgumentError saying what was expected
 */
export function parseObjectName(text: string): ObjectName {
  const slash = text.indexOf('/');
  if (slash === -1) {
    const example = findKind(text) === undefined ? `release/${text || 'hive'}` : `${text}/NAME`;
    throw new InvalidArgumentError(`Expected KIND/NAME, such as ${example}.`);
  }
  const [kindText, name] = [text.slice(0, slash), text.slice(slash + 1)];
  const kind = findKind(kindText);
  if (kind === undefined) throw new InvalidArgumentError(`${unknownKind(kindText)}.`);
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) {
    throw new InvalidArgumentError(
      `"${name}" is no name of a ${kind.toLowerCase()}: expected at most 63 lower-case letters, digits and -.`,
    );
  }
  return { kind, name };
}

/** As commands write it: `release/hive`. */
export function formatObjectName(object: ObjectName): string {
  return `${object.kind.toLowerCase()}/${object.name}`;
}
