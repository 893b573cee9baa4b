import type { PassResult } from '../../domain/keycloak-flow/passes.ts';

/** Passes that came to the same, with their names: what stops a whole run is said by each of them. */
export function alike(passes: readonly PassResult[]): readonly { readonly names: string; readonly pass: PassResult }[] {
  const groups: { names: string; pass: PassResult }[] = [];
  for (const pass of passes) {
    const same = groups.find(({ pass: other }) => key(other) === key(pass));
    if (same === undefined) groups.push({ names: pass.pass, pass });
    else same.names += `, ${pass.pass}`;
  }
  return groups;
}

function key({ outcome, reason, message }: PassResult): string {
  return JSON.stringify([outcome, reason, message]);
}
