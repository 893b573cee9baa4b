import type { NodeReading } from './node.ts';
import type { Visit } from './visit.ts';

/** Where a node is after it was told to reboot. */
export type ReturnJudgement =
  | { readonly kind: 'returned'; readonly bootId: string; readonly message: string }
  | { readonly kind: 'hung' | 'didNothing'; readonly message: string }
  | { readonly kind: 'waiting'; readonly message: string };

/** Within so long a kubelet has written the status of its node: every 5 minutes, and up to half as long again. */
const statusMs = 10 * 60_000;

/**
 * Judges one look at a node that was told to reboot. It is back when its boot id is another one and the kubelet has written
 * that it is Ready since: a node that is off keeps showing Ready for a while, and a fast one never shows that it was not.
 *
 * @param deadline epoch milliseconds; past it a node with its old boot id either hangs or was never rebooted
 */
export function judgeReturn(node: NodeReading, visit: Visit, deadline: number, now: number): ReturnJudgement {
  const { before, rebootAt, hungSince } = visit;
  const { name, ready, bootId, heartbeatAt } = node;
  if (before === null || rebootAt === null) throw new Error(`node ${name} was never told to reboot`);
  const rebooted = bootId !== before.bootId;
  const alive = ready && heartbeatAt !== null && heartbeatAt > rebootAt;
  if (rebooted && alive) return { kind: 'returned', bootId, message: `node ${name} is back as boot ${bootId}` };
  if (!rebooted && alive && (now >= deadline || hungSince !== null)) {
    return {
      kind: 'didNothing',
      message: `the reboot did nothing: node ${name} is Ready and runs the same boot ${bootId} as before`,
    };
  }
  // As long as the control plane shows it as Ready it is heard of, and the next status of the old boot is on its way.
  if (!rebooted && ready && hungSince === null && now >= deadline && now < rebootAt + statusMs) {
    return { kind: 'waiting', message: `node ${name} is shown as Ready, and has written nothing since it was told` };
  }
  const since = new Date(rebootAt).toISOString();
  if (now < deadline || hungSince !== null)
    return { kind: 'waiting', message: `node ${name} was told to reboot at ${since}` };
  const how = rebooted ? `it runs boot ${bootId} and is not Ready` : 'nothing is heard of it';
  return { kind: 'hung', message: `node ${name} hangs: told to reboot at ${since}, and ${how}` };
}
