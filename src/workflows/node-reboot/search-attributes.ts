import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import type { NodeRebootStatus } from '../../domain/node-reboot/status.ts';

const KIND = defineSearchAttributeKey('HoldfastKind', 'KEYWORD');
const NAME = defineSearchAttributeKey('HoldfastName', 'KEYWORD');
const PHASE = defineSearchAttributeKey('HoldfastPhase', 'KEYWORD');
const WAITING_FOR = defineSearchAttributeKey('HoldfastWaitingFor', 'KEYWORD');
const CLUSTER = defineSearchAttributeKey('HoldfastCluster', 'KEYWORD_LIST');
const TARGET = defineSearchAttributeKey('HoldfastTarget', 'KEYWORD_LIST');

/** A Keyword is bounded by the server; a reason is cut to what people search for. */
const KEYWORD_LENGTH = 200;

/** How a NodeReboot is found in the Temporal UI and by `holdfast get`. */
export function nodeRebootSearchAttributes(status: NodeRebootStatus): SearchAttributePair[] {
  return [
    { key: KIND, value: status.kind },
    { key: NAME, value: status.name },
    { key: PHASE, value: status.phase },
    { key: WAITING_FOR, value: (status.waiting?.for ?? 'nothing').slice(0, KEYWORD_LENGTH) },
    { key: CLUSTER, value: [status.cluster] },
    { key: TARGET, value: status.turn === null ? [] : [status.turn.node] },
  ];
}
