import { fail, pass } from '../../domain/core/verdict.ts';
import { holdfastVersion } from '../version.ts';
import type { Check } from './check.ts';

/**
 * The versions that this runs on. Node 26 has a `Temporal` global of its own, which is not deterministic in workflows.
 *
 * @param node such as `24.21.0`
 */
export function versionChecks(node: string = process.versions.node): readonly Check[] {
  const verdict =
    Number(node.split('.')[0]) >= 26
      ? fail(
          'NodeTooNew',
          `Node ${node} is not supported for workers: its Temporal global is not deterministic in workflows`,
        )
      : pass(`holdfast ${holdfastVersion()} on Node ${node}`);
  return [{ name: 'versions', verdict, fix: 'use Node 24' }];
}
