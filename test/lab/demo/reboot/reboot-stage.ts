import type { BudgetedWorkload } from '../../../e2e/budgeted-workload.ts';
import type { AuditMark } from '../../access.ts';
import type { LabEnv } from '../../lab.ts';
import type { RebootNodes } from '../../reboot-nodes.ts';
import type { Pager } from './pager.ts';

/** Where the story of three nodes plays. */
export interface RebootStage {
  readonly lab: LabEnv;
  /** Seen from beside them, as somebody who stands before the machines. */
  readonly nodes: RebootNodes;
  /** Two pods that serve, and a budget that wants one of them ready. */
  readonly shop: BudgetedWorkload;
  readonly pager: Pager;
  /** Name of the NodeReboot. */
  readonly name: string;
  /** Of this run: the worker's configuration and the spec. */
  readonly folder: string;
  readonly specFile: string;
  readonly worker: string;
  /** Where the API server's audit log stood before. */
  readonly audit: AuditMark;
  /** Epoch milliseconds; what happened before is the set-up. */
  readonly since: number;
}

/** How long a node may take to come back before it hangs, seconds: longer than the control plane takes to see that it is gone. */
export const RETURN_SECONDS = 60;
