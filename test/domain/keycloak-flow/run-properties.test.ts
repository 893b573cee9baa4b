import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import type { UnmeasuredCause } from '../../../src/domain/core/verdict.ts';
import { contentHash, treeHash } from '../../../src/domain/keycloak-flow/candidate-name.ts';
import type { ProofOutcome } from '../../../src/domain/keycloak-flow/proof.ts';
import { readRealmMarks } from '../../../src/domain/keycloak-flow/realm-marks.ts';
import type { ScreenedRequest } from '../../../src/domain/keycloak-flow/screen.ts';
import { treeRead } from '../../../src/domain/keycloak-flow/tree.ts';
import { edit, shownProof, Simulation } from './simulation.ts';
import { exampleInput, HOUR, MINUTE, unread } from './world.ts';

/** What happens to a KeycloakFlow: people, other writers, faults, crashes, time. */
type Happening =
  | { readonly do: 'run'; readonly noBind: boolean }
  | { readonly do: 'crash'; readonly after: number }
  | { readonly do: 'terminate' }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'act'; readonly name: 'rollback' | 'liftHold' | 'pause' | 'resume' | 'retry' }
  | { readonly do: 'mode'; readonly mode: 'Observe' | 'Shadow' | 'Enforce' }
  | { readonly do: 'approve'; readonly withoutProof: boolean }
  | { readonly do: 'reject' }
  | { readonly do: 'switch'; readonly value: string | null }
  | { readonly do: 'proof'; readonly proof: ProofOutcome }
  | { readonly do: 'declare'; readonly role: string }
  | { readonly do: 'bindAway'; readonly to: 'browser' | 'direct grant' | 'candidate' }
  | {
      readonly do: 'edit';
      readonly row: number;
      readonly requirement: string;
      readonly when: 'now' | 'midRun' | 'atBind';
    }
  | { readonly do: 'editConfig'; readonly when: 'now' | 'midRun' }
  | { readonly do: 'drift' }
  /** The server accepts requirements and does not set them. */
  | { readonly do: 'sabotage' }
  /** Others bind it away as often as it is bound. */
  | { readonly do: 'contest' }
  | { readonly do: 'unreadable'; readonly what: keyof Simulation['unreadable'] | null; readonly why: UnmeasuredCause }
  | { readonly do: 'loseAnswers'; readonly every: number }
  | { readonly do: 'override'; readonly on: boolean };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ do: fc.constant('run' as const), noBind: fc.boolean() }) },
  { weight: 8, arbitrary: fc.constant({ do: 'run' as const, noBind: false }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('crash' as const), after: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.constant({ do: 'terminate' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(MINUTE, 2 * HOUR, 30 * HOUR) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('act' as const),
      name: fc.constantFrom(
        'rollback' as const,
        'liftHold' as const,
        'pause' as const,
        'resume' as const,
        'retry' as const,
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('mode' as const),
      mode: fc.constantFrom(
        'Observe' as const,
        'Shadow' as const,
        'Enforce' as const,
        'Enforce' as const,
        'Enforce' as const,
      ),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('approve' as const), withoutProof: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ do: 'reject' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('switch' as const),
      value: fc.constantFrom('true', 'true', 'false', null, 'yes'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('proof' as const),
      proof: fc.constantFrom<ProofOutcome[]>(
        shownProof,
        { kind: 'failed', reason: 'LoginRefused', message: 'refused' },
        { kind: 'notMade', reason: 'NotShown', message: 'no answer' },
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('declare' as const), role: fc.constantFrom('a', 'b') }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('bindAway' as const),
      to: fc.constantFrom('browser' as const, 'direct grant' as const, 'candidate' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('edit' as const),
      row: fc.nat(10),
      requirement: fc.constantFrom('REQUIRED', 'ALTERNATIVE', 'DISABLED'),
      when: fc.constantFrom('now' as const, 'midRun' as const, 'atBind' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('editConfig' as const),
      when: fc.constantFrom('now' as const, 'midRun' as const),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'drift' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'contest' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'sabotage' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('unreadable' as const),
      what: fc.constantFrom(
        'switch' as const,
        'realm' as const,
        'requiredActions' as const,
        'flows' as const,
        'boundFlow' as const,
        'candidates' as const,
        'protected' as const,
        null,
        null,
        null,
      ),
      why: fc.constantFrom<UnmeasuredCause[]>('denied', 'missing', 'timeout', 'truncated', 'unparsed'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('loseAnswers' as const), every: fc.constantFrom(0, 0, 1, 2, 3) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('override' as const), on: fc.boolean() }) },
);

/** What is asserted at each write, from the outside and by other means than the rules that are tested. */
class Watch {
  readonly s: Simulation;
  /** Approvals that were accepted: what a person said yes to. */
  readonly yes: { candidate: string; treeHash: string; withoutProof: boolean }[] = [];
  midRun: { readonly change: () => void; readonly atBind: boolean } | null = null;
  #sent = 0;

  constructor(s: Simulation) {
    this.s = s;
    s.sent = (request) => this.#check(request);
  }

  loseAnswers(every: number): void {
    this.s.answer = (_, answer) => {
      this.#sent += 1;
      return every > 0 && answer.kind === 'accepted' && this.#sent % every === 0
        ? { kind: 'unknown', message: 'no answer' }
        : answer;
    };
  }

  #check(request: ScreenedRequest): void {
    if (request.method === 'GET') return;
    const { s } = this;
    const { spec } = s.state;
    expect(spec.mode).toBe('Enforce');
    const isRealm = request.path === '/admin/realms/shop';
    const to = isRealm ? (request.body as { browserFlow: string }).browserFlow : s.bound;
    const flowWrite = request.path.includes('/flows') || request.path.includes('/executions');
    if (flowWrite || (isRealm && to !== s.bound)) this.#checkFlowWrite();
    if (flowWrite) this.#checkNotInUse(request);
    if (!isRealm || to === s.bound) return;
    if (s.state.rollback !== null) {
      expect(to).toBe('previous' in this.#marks() ? this.#marks().previous : '');
      return;
    }
    this.#checkBind(to);
  }

  #marks() {
    const marks = readRealmMarks(this.s.keycloak.realm.attributes);
    if (marks.kind === 'unmeasured') throw new Error('a write while the marks could not be read');
    return marks.value;
  }

  /** Nothing about flows is written while something about them is not known, or while passes are paused. */
  #checkFlowWrite(): void {
    const { s } = this;
    // A rollback outranks the switch, and goes on while passes are paused.
    if (s.state.rollback !== null) return;
    for (const what of ['switch', 'realm', 'flows', 'boundFlow'] as const) {
      expect(s.unreadable[what]).toBeUndefined();
    }
    expect(s.state.paused).toBeNull();
    expect(['true', 'false', null]).toContain(s.bindSwitch);
  }

  #checkNotInUse(request: ScreenedRequest): void {
    const { s } = this;
    expect(s.unreadable.protected).toBeUndefined();
    const sets = s.keycloak.protectedSets('probe');
    if (sets.kind !== 'read') throw new Error('not read');
    const body = request.body as { id?: string; alias?: string };
    for (const step of request.path.split('/').map(decodeURIComponent)) {
      expect(sets.value.flows.has(step)).toBe(false);
      expect(sets.value.executions.has(step)).toBe(false);
    }
    expect(sets.value.executions.has(body.id ?? '')).toBe(false);
    expect(sets.value.flows.has(body.alias ?? '')).toBe(false);
  }

  #checkBind(to: string): void {
    const { s } = this;
    const { spec } = s.state;
    const readBack = s.keycloak.readBack(to);
    if (readBack === null) throw new Error(`"${to}" does not exist`);
    const tree = treeRead(readBack.rows, readBack.configs);
    // What is bound is the declared tree, at this very moment.
    expect(tree.kind === 'read' ? treeHash(tree.value) : 'unread').toBe(contentHash(spec.desired));
    expect(s.bindSwitch).not.toBe('false');
    expect(s.state.hold).toBeNull();
    expect(this.#marks().hold).toBeNull();
    const proof = s.state.proofs[to]?.outcome.kind ?? 'notMade';
    expect(proof).not.toBe('failed');
    const hash = contentHash(spec.desired);
    const covering = this.yes.filter((yes) => yes.candidate === to && yes.treeHash === hash);
    if (proof === 'notMade') expect(covering.some((yes) => yes.withoutProof)).toBe(true);
    if (s.bindSwitch === null)
      expect(covering.length).toBeGreaterThan(
        s.binds.filter((b) => b.candidate === to && b.bindSwitch === 'absent').length - 1,
      );
  }
}

function happen(watch: Watch, h: Happening): void {
  const { s } = watch;
  switch (h.do) {
    case 'run':
    case 'crash': {
      const execute = s.execute.bind(s);
      const { midRun } = watch;
      watch.midRun = null;
      s.execute = (command) => {
        if (midRun !== null && (midRun.atBind ? command.do === 'bind' : command.do !== 'observe')) midRun.change();
        return execute(command);
      };
      s.now += 15 * MINUTE;
      s.run(h.do === 'run' ? { noBind: h.noBind } : { most: h.after });
      s.execute = execute;
      return;
    }
    case 'terminate':
      return s.terminate();
    case 'wait':
      s.now += h.ms;
      return;
    case 'act':
      s.act(h.name);
      return;
    case 'mode':
      s.act('setMode', { mode: h.mode });
      return;
    case 'approve': {
      const { pending } = s.state;
      const record = s.approve({ withoutProof: h.withoutProof });
      if (pending !== null && record.startsWith('approves')) {
        watch.yes.push({
          candidate: pending.offer.candidate,
          treeHash: pending.offer.treeHash,
          withoutProof: h.withoutProof,
        });
      }
      return;
    }
    case 'reject':
      s.act('reject', {
        candidate: s.state.pending?.offer.candidate ?? 'x',
        plan: s.state.pending?.offerHash ?? '00000000',
      });
      return;
    case 'switch':
      s.bindSwitch = h.value;
      return;
    case 'proof':
      s.proof = h.proof;
      return;
    case 'declare': {
      const desired = exampleInput();
      desired.authenticatorConfig['conditional-otp-platform-admin'] = { condUserRole: h.role };
      s.act('applySpec', { spec: { ...s.state.spec, desired } });
      return;
    }
    case 'bindAway': {
      const to = h.to === 'candidate' ? s.candidate() : h.to;
      if (s.keycloak.readBack(to) !== null) edit(s, { browserFlow: to });
      return;
    }
    case 'edit': {
      const change = () => {
        const row = s.keycloak.readBack(s.candidate())?.rows[h.row]?.id ?? '';
        const execution = s.keycloak.execution(row);
        if (execution !== undefined) execution.requirement = h.requirement;
      };
      if (h.when === 'now') change();
      else watch.midRun = { change, atBind: h.when === 'atBind' };
      return;
    }
    case 'editConfig': {
      const change = () => {
        for (const { config } of s.keycloak.configs.values()) config['condUserRole'] = 'everybody';
      };
      if (h.when === 'now') change();
      else watch.midRun = { change, atBind: false };
      return;
    }
    case 'sabotage':
      s.answer = (request, answer) => {
        const execution = s.keycloak.execution((request.body as { id?: string } | undefined)?.id ?? '');
        if (execution !== undefined) execution.requirement = 'DISABLED';
        return answer;
      };
      return;
    case 'contest':
      for (let time = 0; time < 3; time++) {
        for (const each of [
          { do: 'switch', value: 'true' },
          { do: 'run', noBind: false },
          { do: 'bindAway', to: 'browser' },
        ] as const) {
          happen(watch, each);
        }
      }
      return;
    case 'drift':
      return edit(s, { webAuthnPolicyPasswordlessRpId: 'elsewhere' });
    case 'unreadable':
      s.unreadable = h.what === null ? {} : { [h.what]: unread(h.why) };
      return;
    case 'loseAnswers':
      return watch.loseAnswers(h.every);
    case 'override':
      s.keycloak.clients = s.keycloak.clients.filter((c) => c.clientId !== 'shop');
      if (h.on) {
        const id = s.keycloak.listFlows().find((f) => f.alias === s.candidate())?.id ?? '';
        s.keycloak.clients = [
          ...s.keycloak.clients,
          { id: 'u5', clientId: 'shop', authenticationFlowBindingOverrides: { browser: id } },
        ];
      }
  }
}

function start(): Watch {
  return new Watch(new Simulation());
}

describe('generated histories', () => {
  test('come to everything that a flow pass can come to', () => {
    const seen = new Set<string>();
    for (const history of fc.sample(fc.array(happening, { minLength: 20, maxLength: 60 }), { numRuns: 80, seed: 7 })) {
      const watch = start();
      for (const h of history) {
        happen(watch, h);
        const flow = watch.s.state.lastRun?.passes.find((pass) => pass.pass === 'flow');
        if (flow !== undefined) seen.add(`${flow.outcome} ${flow.reason}`);
      }
    }
    expect([...seen].sort()).toEqual(
      expect.arrayContaining([
        'Bound Bound',
        'Converged AsDeclared',
        'PendingBind AwaitingApproval',
        'PendingBind Held',
        'PendingBind NoBind',
        'PendingBind Rejected',
        'PendingBind SwitchedOff',
        'Problem BoundAway',
        'Problem CandidateChanged',
        'Problem CandidateLeft',
        'Problem Drift',
        'Problem HandEdited',
        'Problem ProofFailed',
        'Refused InvalidSwitch',
        'Undetermined SwitchUnread',
        'Undetermined Unread',
        'Undetermined WriteUnknown',
      ]),
    );
  });
});

describe('for all histories of people, other writers, faults and crashes', () => {
  property.prop([fc.array(happening, { minLength: 1, maxLength: 40 })], { numRuns: 300 })(
    'R4 R6 R12 R13 R14 nothing but the declared tree is ever bound, and never against a switch, a hold, a failed proof, a mode or what is not known',
    (history) => {
      const watch = start();
      for (const h of history) happen(watch, h);
    },
  );

  property.prop([fc.array(happening, { minLength: 1, maxLength: 40 })], { numRuns: 120 })(
    'R1 R2 R20 the bound flow changes only by a bind, a rollback or others, nothing is deleted, and at most five candidates of a content exist',
    (history) => {
      const watch = start();
      const { s } = watch;
      for (const h of history) {
        const [bound, binds, rollbacks] = [s.bound, s.binds.length, s.state.rollback];
        const aliases = new Set(s.keycloak.flows.map((f) => f.alias));
        happen(watch, h);
        if (h.do === 'run' && s.bound !== bound) expect(s.binds.length > binds || rollbacks !== null).toBe(true);
        for (const alias of aliases) expect(s.keycloak.flows.some((f) => f.alias === alias)).toBe(true);
        const hash = contentHash(s.state.spec.desired);
        const built = s.keycloak.flows.filter((f) => f.topLevel && f.alias.startsWith(`browser-mfa-${hash}`));
        expect(built.length).toBeLessThanOrEqual(5);
      }
    },
  );

  property.prop([fc.array(happening, { maxLength: 25 })], { numRuns: 120 })(
    'once everything can be read, is let and is left alone, the declared tree comes to be bound',
    (history) => {
      const watch = start();
      const { s } = watch;
      for (const h of history) happen(watch, h);
      s.sent = () => {};
      s.answer = (_, answer) => answer;
      s.unreadable = {};
      s.bindSwitch = 'true';
      s.proof = shownProof;
      s.keycloak.clients = s.keycloak.clients.filter((c) => c.clientId !== 'shop');
      s.act('setMode', { mode: 'Enforce' });
      s.act('resume');
      s.act('retry');
      s.flow();
      if (s.state.hold !== null) s.act('liftHold');
      s.flow();
      const outcome = s.flow();
      // Hand edits use candidates up; that is said, and nothing is bound.
      if (outcome === 'Problem Exhausted') return;
      expect(outcome).toBe('Converged AsDeclared');
    },
  );
});
