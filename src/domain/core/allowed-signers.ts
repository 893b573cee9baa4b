import { parsePublicKey } from './ssh-key.ts';
import type { SshParse, SshPublicKey } from './ssh-key.ts';
import { signatureNamespace } from './ssh-signature.ts';

/** Someone whose signature approves. Plain JSON. */
export interface Approver {
  readonly name: string;
  readonly key: SshPublicKey;
}

/**
 * One line of an `allowed_signers` file (ssh-keygen(1), ALLOWED SIGNERS): principals, options, key. Read strictly: an
 * option that we would have to honour and do not know refuses the line, because ignoring it could widen who approves.
 *
 * @returns undefined for blank lines and comments; one approver for each principal
 */
export function parseAllowedSigner(line: string): SshParse<readonly Approver[]> | undefined {
  const text = line.trim();
  if (text === '' || text.startsWith('#')) return undefined;
  const match = /^("[^"]*"|\S+)[ \t]+(.*)$/.exec(text);
  if (match === null) return refuse('expected principals, then a key');
  const [, quoted = '', rest = ''] = match;
  const names = quoted.replace(/^"|"$/g, '').split(',');
  const pattern = names.find((name) => name === '' || /[*?!]/.test(name));
  if (pattern !== undefined) return refuse(`expected names, got "${pattern}": patterns do not say who approved`);

  const options = /^((?:[A-Za-z-]+(?:="[^"]*")?,?)+)[ \t]+(.*)$/.exec(rest);
  const bare = parsePublicKey(rest);
  const key = bare.ok || options === null ? bare : parsePublicKey(options[2] ?? '');
  if (!key.ok) return key;
  if (!bare.ok && options !== null) {
    const refused = optionFault(options[1] ?? '');
    if (refused !== undefined) return refuse(refused);
  }
  return { ok: true, value: names.map((name) => ({ name, key: key.value })) };
}

/** Why the options keep a line from being used. */
function optionFault(options: string): string | undefined {
  for (const [, name = '', value] of options.matchAll(/([A-Za-z-]+)(?:="([^"]*)")?/g)) {
    if (name.toLowerCase() !== 'namespaces') {
      return `the option ${name} is not supported; only namespaces="${signatureNamespace}" is`;
    }
    if (!(value ?? '').split(',').includes(signatureNamespace)) {
      return `the key may sign for the namespaces "${value ?? ''}" only, not for ${signatureNamespace}`;
    }
  }
  return undefined;
}

function refuse(message: string): { ok: false; message: string } {
  return { ok: false, message };
}
