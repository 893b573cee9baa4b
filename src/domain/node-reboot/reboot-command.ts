import { z } from 'zod';
import { duration } from '../core/duration.ts';
import { own } from '../core/own.ts';

/**
 * A command of the worker's configuration that ends the boot of a node from elsewhere, such as a call of SSH, a BMC or Talos.
 * It is a program and its arguments, and no shell reads them; what stands in braces is filled in.
 */

/** What can stand in braces. */
const placeholders = ['node', 'address', 'bootId'] as const;
type Placeholder = (typeof placeholders)[number];

const inBraces = /\{([A-Za-z]+)\}/g;
/** What looks like it, mistyped or not: a body in JSON does not. */
const likePlaceholder = /\{\s*([A-Za-z][\w.-]*)\s*\}/g;

const program = z
  .string()
  .regex(/^\/[^{}]+$/, 'expected the absolute path of a program, without anything in braces')
  .max(1_000);

const argument = z
  .string()
  .max(4_000)
  .superRefine((text, context) => {
    for (const [written] of text.matchAll(likePlaceholder)) {
      if (placeholders.some((known) => `{${known}}` === written)) continue;
      const known = placeholders.map((one) => `{${one}}`).join(', ');
      context.addIssue({ code: 'custom', message: `nothing is filled in for ${written}; there are ${known}` });
    }
  });

/** Longer than any such call takes, and shorter than an activity may. */
const longestMs = 4 * 60_000;

/** A reboot command as it stands in the worker's configuration. */
export const rebootCommandSchema = z.strictObject({
  run: z.tuple([program], argument),
  timeout: duration({ min: 1_000, max: longestMs }).prefault('60s'),
});

/** A reboot command after parsing; `timeout` is milliseconds. */
export type RebootCommand = z.output<typeof rebootCommandSchema>;

/** The node that a command is about, as it was just read. */
export interface CommandTarget {
  readonly node: string;
  /** As the node's status says where it is reached; null where it says nothing. */
  readonly address: string | null;
  /** The boot that is to end. */
  readonly bootId: string;
}

/** A command with everything filled in, or why there is none. */
export type CommandLine =
  | { readonly ok: true; readonly run: readonly [string, ...string[]]; readonly timeoutMs: number }
  | { readonly ok: false; readonly reason: string; readonly message: string; readonly lift: string };

const nodeName = z.string().regex(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/);
const address = z.union([z.ipv4(), z.ipv6()]);
const bootId = z.string().regex(/^[0-9a-f][0-9a-f-]{7,63}$/);

/**
 * Fills a command in. What comes from the cluster is checked first, so that none of it is taken for an option.
 *
 * @param name as a spec names it
 * @param commands those of the worker's configuration
 */
export function commandLine(
  name: string,
  commands: Readonly<Record<string, RebootCommand>>,
  target: CommandTarget,
): CommandLine {
  const command = own(commands, name);
  if (command === undefined) {
    const names = Object.keys(commands).sort();
    const there = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`;
    const message = `this worker has no reboot command "${name}"; ${there}`;
    const lift = `add it under nodeReboot.commands in the worker's configuration, or name another as method in the spec`;
    return { ok: false, reason: 'NoSuchCommand', message, lift };
  }
  const values: Readonly<Record<Placeholder, string | undefined>> = {
    node: nodeName.safeParse(target.node).data,
    address: address.safeParse(target.address).data,
    bootId: bootId.safeParse(target.bootId).data,
  };
  const [path, ...rest] = command.run;
  const missing = placeholders.find(
    (one) => values[one] === undefined && rest.some((text) => text.includes(`{${one}}`)),
  );
  if (missing !== undefined) {
    const message = `reboot command ${name} wants {${missing}}, and what node ${target.node} says of it is nothing that can be filled in`;
    return {
      ok: false,
      reason: 'CommandUnfilled',
      message,
      lift: 'look at the status of the node, or name another method',
    };
  }
  const filled = rest.map((text) => text.replace(inBraces, (_, one: Placeholder) => values[one] ?? ''));
  return { ok: true, run: [path, ...filled], timeoutMs: command.timeout };
}
