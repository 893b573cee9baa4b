import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { RbacRule } from '../lab/access.ts';

interface Role {
  readonly kind: string;
  readonly rules?: RbacRule[];
}

/** The rights that `deploy/release/MODE` gives a worker, from the very files that people apply. Enforce has Shadow's, too. */
export function deployedRights(mode: 'shadow' | 'enforce'): RbacRule[] {
  const files = mode === 'shadow' ? ['shadow'] : ['shadow', 'enforce'];
  return files.flatMap((name) => {
    const text = readFileSync(new URL(`../../deploy/release/${name}/rbac.yaml`, import.meta.url), 'utf8');
    const documents = parseAllDocuments(text).map((document) => document.toJS() as Role);
    return documents.flatMap(({ kind, rules = [] }) => (kind === 'ClusterRole' ? rules : []));
  });
}
