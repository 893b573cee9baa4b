import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import type { ReleaseStatus } from '../../domain/release/status.ts';

const KIND = defineSearchAttributeKey('HoldfastKind', 'KEYWORD');
const NAME = defineSearchAttributeKey('HoldfastName', 'KEYWORD');
const PHASE = defineSearchAttributeKey('HoldfastPhase', 'KEYWORD');
const WAITING_FOR = defineSearchAttributeKey('HoldfastWaitingFor', 'KEYWORD');
const CLUSTER = defineSearchAttributeKey('HoldfastCluster', 'KEYWORD_LIST');
const TARGET = defineSearchAttributeKey('HoldfastTarget', 'KEYWORD_LIST');

/** A Keyword is bounded by the server; a reason is cut to what people search for. */
const KEYWORD_LENGTH = 200;
/** More targets than this are found by the release's name. */
const TARGETS = 50;

/** How a release is found in the Temporal UI and by `holdfast get`. */
export function releaseSearchAttributes(status: ReleaseStatus): SearchAttributePair[] {
  return [
    { key: KIND, value: status.kind },
    { key: NAME, value: status.name },
    { key: PHASE, value: status.phase },
    { key: WAITING_FOR, value: (status.waiting?.for ?? 'nothing').slice(0, KEYWORD_LENGTH) },
    { key: CLUSTER, value: [...new Set(status.targets.map((t) => t.cluster))] },
    { key: TARGET, value: status.targets.slice(0, TARGETS).map((t) => t.name) },
  ];
}
