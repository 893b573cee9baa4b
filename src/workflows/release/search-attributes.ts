import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import type { ReleaseStatus } from '../../domain/release/status.ts';

const KIND = defineSearchAttributeKey('HoldfastKind', 'KEYWORD');
const NAME = defineSearchAttributeKey('HoldfastName', 'KEYWORD');
const PHASE = defineSearchAttributeKey('HoldfastPhase', 'KEYWORD');
const WAITING_FOR = defineSearchAttributeKey('HoldfastWaitingFor', 'KEYWORD');
const CLUSTER = defineSearchAttributeKey('HoldfastCluster', 'KEYWORD_LIST');
const TARGET = defineSearchAttributeKey('HoldfastTarget', 'KEYWORD_LIST');

/** What people search for, and less than the 255 characters that databases of visibility keep of a Keyword. */
const KEYWORD_BYTES = 250;
/**
 * The server takes 2048 bytes of one attribute, and terminates the workflow that sets more (temporalio/temporal,
 * `limit.searchAttributesSizeOfValue`). What is left out is found by the release's name.
 */
const LIST_BYTES = 1_900;
const LIST_LENGTH = 50;

/** How a release is found in the Temporal UI and by `holdfast get`. */
export function releaseSearchAttributes(status: ReleaseStatus): SearchAttributePair[] {
  return [
    { key: KIND, value: status.kind },
    { key: NAME, value: keyword(status.name) },
    { key: PHASE, value: status.phase },
    { key: WAITING_FOR, value: keyword(status.waiting?.for ?? 'nothing') },
    { key: CLUSTER, value: keywords(status.targets.map((t) => t.cluster)) },
    { key: TARGET, value: keywords(status.targets.map((t) => t.name)) },
  ];
}

/** The text as far as it may be kept, cut between characters. */
function keyword(text: string): string {
  let bytes = 0;
  let kept = '';
  for (const character of text) {
    bytes += bytesOf(character);
    if (bytes > KEYWORD_BYTES) break;
    kept += character;
  }
  return kept;
}

/** The first of the names, each once, as many as may be kept together. */
function keywords(names: readonly string[]): string[] {
  let bytes = bytesOf('[]');
  const kept: string[] = [];
  for (const name of new Set(names.map(keyword))) {
    bytes += bytesOf(JSON.stringify(name)) + bytesOf(',');
    if (bytes > LIST_BYTES || kept.length === LIST_LENGTH) break;
    kept.push(name);
  }
  return kept;
}

/** Bytes in UTF-8, or more. */
function bytesOf(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    bytes += unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
  }
  return bytes;
}
