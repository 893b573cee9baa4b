import { z } from 'zod';
import { own } from '../../core/own.ts';
import { allOf, fail, pass, unmeasured, type Reading, type Verdict } from '../../core/verdict.ts';
import type { GateReading } from '../gate.ts';
import type { GatesSpec } from '../gates-spec.ts';
import { readAnswer } from '../read-objects.ts';

export interface EtcdFacts {
  readonly members: Reading<readonly EtcdMember[]>;
  /** What each member says of itself, by its ID. */
  readonly health: Readonly<Record<string, Reading<boolean>>>;
}

export interface EtcdMember {
  /** A number of 64 bits, in digits. Names need not be unique. */
  readonly id: string;
  /** Empty for one that was added and has never started. */
  readonly name: string;
  /** It follows and has no vote yet. */
  readonly learner: boolean;
}

const memberListSchema = z
  .object({
    // protobuf's JSON leaves out what is empty or false.
    members: z.array(z.object({ ID: z.string(), name: z.string().default(''), isLearner: z.boolean().default(false) })),
  })
  .transform(({ members }) => members.map(({ ID, name, isLearner }) => ({ id: ID, name, learner: isLearner })));

/** `/health` says it as text. */
const healthSchema = z
  .object({ health: z.union([z.boolean(), z.enum(['true', 'false'])]) })
  .transform(({ health }) => health === true || health === 'true');

/**
 * @param memberList the answer of `/v3/cluster/member/list`
 * @param health the answers of each member's `/health`, by its ID
 */
export function readEtcd(memberList: Reading<unknown>, health: Readonly<Record<string, Reading<unknown>>>): EtcdFacts {
  const answers = Object.entries(health).map(
    ([id, answer]) =>
      [id, readAnswer(answer, `health of etcd member ${id}`, `etcd member ${id}`, healthSchema)] as const,
  );
  return {
    members: readAnswer(memberList, 'the members of etcd', 'etcd', memberListSchema),
    health: Object.fromEntries(answers),
  };
}

/** All members of etcd vote and are healthy, and there are as many as the spec says. The same at every stage. */
export function etcdGate({ members, health }: EtcdFacts, spec: NonNullable<GatesSpec['etcd']>): GateReading {
  return { gate: 'etcd', verdict: judge(members, health, spec.members), lift: 'bring the member back, and wait' };
}

function judge(members: Reading<readonly EtcdMember[]>, health: EtcdFacts['health'], expected: number): Verdict {
  if (members.kind === 'unmeasured') return members;
  const found = members.value;
  if (found.length === 0) return unmeasured('the members of etcd', 'etcd', 'empty', 'etcd lists no members');
  if (found.length !== expected) return fail('EtcdMembers', `etcd has ${found.length} of ${expected} members`);
  return allOf(
    found.map((member) => judgeMember(member, health)),
    'the members of etcd',
  );
}

function judgeMember({ id, name, learner }: EtcdMember, health: EtcdFacts['health']): Verdict {
  if (name === '') return fail('EtcdUnhealthy', 'a member of etcd was added and has never started');
  if (learner) return fail('EtcdUnhealthy', `etcd member ${name} is a learner without a vote`);
  const answer = own(health, id);
  if (answer === undefined) {
    const message = `nobody has asked etcd member ${name} how it is`;
    return unmeasured(`health of etcd member ${name}`, name, 'missing', message);
  }
  if (answer.kind === 'unmeasured') return answer;
  return answer.value
    ? pass(`etcd member ${name} is healthy`)
    : fail('EtcdUnhealthy', `etcd member ${name} is not healthy`);
}
