import { read, type Reading, type Unmeasured } from '../../../src/domain/core/verdict.ts';
import { parseAction, type KeycloakFlowAction } from '../../../src/domain/keycloak-flow/actions.ts';
import { advanceRun } from '../../../src/domain/keycloak-flow/advance-run.ts';
import { applyAction } from '../../../src/domain/keycloak-flow/apply-action.ts';
import { applyRunResult } from '../../../src/domain/keycloak-flow/apply-run-result.ts';
import { readBindSwitch } from '../../../src/domain/keycloak-flow/bind-switch.ts';
import { afterWrite, newBuild, nextBuildStep, type WriteAnswer } from '../../../src/domain/keycloak-flow/build.ts';
import { candidateDescription, candidates, contentHash } from '../../../src/domain/keycloak-flow/candidate-name.ts';
import { bindingFault, checkBind } from '../../../src/domain/keycloak-flow/check-bind.ts';
import { checkLift, checkRollback } from '../../../src/domain/keycloak-flow/check-rollback.ts';
import { requestOf } from '../../../src/domain/keycloak-flow/construction-request.ts';
import { nextConstruction } from '../../../src/domain/keycloak-flow/construction.ts';
import { enrolmentAction } from '../../../src/domain/keycloak-flow/desired.ts';
import { modeOfCommand } from '../../../src/domain/keycloak-flow/effective-mode.ts';
import { finishRun, type Finished } from '../../../src/domain/keycloak-flow/finish-run.ts';
import { initialState } from '../../../src/domain/keycloak-flow/initial-state.ts';
import type { JsonObject } from '../../../src/domain/keycloak-flow/json-body.ts';
import {
  asksAuthenticators,
  candidatesToRead,
  observationOf,
  type FlowObservation,
  type FlowReadings,
} from '../../../src/domain/keycloak-flow/observation.ts';
import { policyBody, policyDrift } from '../../../src/domain/keycloak-flow/policy.ts';
import { policyReadBack } from '../../../src/domain/keycloak-flow/policy-write.ts';
import type { ProofOutcome } from '../../../src/domain/keycloak-flow/proof.ts';
import { verify, type FlowReadBack } from '../../../src/domain/keycloak-flow/read-back.ts';
import { bindingBody, marksBody } from '../../../src/domain/keycloak-flow/realm-body.ts';
import type { RealmMarks } from '../../../src/domain/keycloak-flow/realm-marks.ts';
import type { RealmRepresentation } from '../../../src/domain/keycloak-flow/representation.ts';
import { requiredActionBody } from '../../../src/domain/keycloak-flow/required-action.ts';
import {
  newRun,
  type BindCommand,
  type BuildOutcome,
  type FlowRun,
  type RunCommand,
  type RunResult,
  type WriteOutcome,
} from '../../../src/domain/keycloak-flow/run.ts';
import {
  buildScope,
  readingScope,
  type RealmWrite,
  type Scope,
} from '../../../src/domain/keycloak-flow/screen-scope.ts';
import { screen, type ScreenedRequest } from '../../../src/domain/keycloak-flow/screen.ts';
import { keycloakFlowSpec, type KeycloakFlowSpecInput } from '../../../src/domain/keycloak-flow/spec.ts';
import type { KeycloakFlowState } from '../../../src/domain/keycloak-flow/state.ts';
import { desiredTree } from '../../../src/domain/keycloak-flow/tree.ts';
import { FakeKeycloak } from './fake-keycloak.ts';
import { desired, exampleInput, HOUR, NAME, NOW, realm } from './world.ts';

export const shownProof: ProofOutcome = { kind: 'passed', shown: ['a member with password: logged in'] };

const probe = {
  client: 'probe',
  redirectUri: 'https://probe.example.com/',
  users: {
    member: { username: 'm-user', password: 'm-pass' },
    administrator: { username: 'a-user', password: 'a-pass', totp: 'a-totp' },
    bareAdministrator: { username: 'b-user', password: 'b-pass' },
  },
};

const defaultActions = [
  'CONFIGURE_TOTP',
  'TERMS_AND_CONDITIONS',
  'UPDATE_PASSWORD',
  'UPDATE_PROFILE',
  'VERIFY_EMAIL',
  'VERIFY_PROFILE',
  'delete_account',
  'delete_credential',
  'update_user_locale',
  'webauthn-register',
  enrolmentAction,
];

type What =
  'switch' | 'realm' | 'requiredActions' | 'flows' | 'boundFlow' | 'candidates' | 'protected' | 'authenticators';

/** A KeycloakFlow on a Keycloak in memory: what workflow and activities do, without either. */
export class Simulation {
  readonly keycloak: FakeKeycloak;
  state: KeycloakFlowState;
  now = NOW;
  /** What the second source says; null: absent. */
  bindSwitch: string | null = null;
  proof: ProofOutcome = shownProof;
  /** What the server has. */
  authenticators: string[] = [...new Set(desiredTree(desired()).map((row) => row.name))];
  /** What cannot be read at the moment. */
  unreadable: Partial<Record<What, Unmeasured>> = {};
  /** Called with each write that the choke point let pass, right before it takes effect. */
  sent: (request: ScreenedRequest) => void = () => {};
  /** Decides what comes of a write that was sent. */
  answer: (request: ScreenedRequest, answer: WriteAnswer) => WriteAnswer = (_, answer) => answer;
  /** Each bind that was sent. */
  readonly binds: BindCommand[] = [];
  #runs = 0;

  constructor(overrides: Partial<KeycloakFlowSpecInput> = {}) {
    const input = { mode: 'Enforce', desired: exampleInput(), probe, ...overrides } as KeycloakFlowSpecInput;
    const spec = keycloakFlowSpec.parse(input);
    this.keycloak = new FakeKeycloak(realm(spec.desired));
    this.keycloak.requiredActions = defaultActions.map((alias) => ({
      alias,
      name: alias,
      providerId: alias,
      enabled: true,
      defaultAction: false,
      priority: 10,
      config: {},
    }));
    this.state = initialState(NAME, spec, NOW);
  }

  get bound(): string {
    return this.keycloak.realm.browserFlow;
  }

  get writes(): string[] {
    return this.keycloak.writes.map(({ method, path }) => `${method} ${path.replace('/admin/realms/shop', '')}`);
  }

  /** The alias of a candidate of the declared content. */
  candidate(number = 0): string {
    return candidates(this.state.spec.desired)[number]?.alias ?? '';
  }

  act(name: KeycloakFlowAction['action'], payload: Record<string, unknown> = {}): string {
    const parsed = parseAction(name, { by: 'ana', ...payload });
    if (!parsed.ok) return parsed.message;
    const answer = applyAction(this.state, parsed.action, this.now);
    if (!answer.ok) return answer.message;
    this.state = answer.state;
    return answer.record;
  }

  /** Approves what waits, by its name and hash. */
  approve(more: Record<string, unknown> = {}): string {
    const { pending } = this.state;
    return this.act('approve', {
      candidate: pending?.offer.candidate ?? 'none',
      plan: pending?.offerHash ?? '00000000',
      ...more,
    });
  }

  /** One run. `most` commands, after which the worker dies and what it knew of the run with it. */
  run(options: { noBind?: boolean; most?: number; terminate?: boolean } = {}): Finished['summary'] | null {
    this.#runs += 1;
    let run: FlowRun = newRun(`run-${this.#runs}`, this.now, options);
    for (let done = 0; ; done++) {
      const advanced = advanceRun(this.state, run, this.now);
      this.state = advanced.state;
      run = advanced.run;
      if (advanced.command.do === 'done') break;
      if (done === options.most) return null;
      if (done > 50) throw new Error(`a run does not end: ${advanced.command.do}`);
      // As in the workflow: what a person asked for meanwhile is part of the state by then.
      const result = this.execute(advanced.command);
      const applied = applyRunResult(this.state, run, result, this.now);
      this.state = applied.state;
      run = applied.run;
    }
    const finished = finishRun(this.state, run, this.now);
    this.state = JSON.parse(JSON.stringify(finished.state)) as KeycloakFlowState;
    this.notifications = finished.notifications.map((n) => `${n.severity} ${n.what}`);
    return finished.summary;
  }

  notifications: string[] = [];

  /** Runs, and says what the passes came to. */
  outcomes(options: { noBind?: boolean } = {}): string[] {
    this.now += HOUR / 4;
    return this.run(options)?.passes.map((pass) => `${pass.pass} ${pass.outcome} ${pass.reason}`) ?? [];
  }

  /** Runs, and says what the flow pass came to. */
  flow(options: { noBind?: boolean } = {}): string {
    this.now += HOUR / 4;
    const pass = this.run(options)?.passes.find((p) => p.pass === 'flow');
    return `${pass?.outcome ?? ''} ${pass?.reason ?? ''}`;
  }

  message(): string {
    return this.state.lastRun?.passes.find((p) => p.pass === 'flow')?.message ?? '';
  }

  /** The workflow ends and begins anew: what it knew is gone. */
  terminate(): void {
    this.state = initialState(NAME, this.state.spec, this.now);
  }

  #doing: RunCommand['do'] = 'done';

  execute(command: Exclude<RunCommand, { do: 'done' }>): RunResult {
    this.#doing = command.do;
    switch (command.do) {
      case 'observe':
        return { did: 'observe', observation: this.#observe() };
      case 'writePolicy':
        return { did: 'writePolicy', outcome: this.#writePolicy() };
      case 'writeRequiredAction':
        return { did: 'writeRequiredAction', outcome: this.#writeRequiredAction() };
      case 'construct':
        return { did: 'construct', candidate: command.candidate, outcome: this.#construct(command.candidate) };
      case 'prove':
        return { did: 'prove', candidate: command.candidate, treeHash: command.treeHash, outcome: this.proof };
      case 'bind':
        return { did: 'bind', command, outcome: this.#bind(command) };
      case 'rollBack': {
        const check = checkRollback(
          NAME,
          command.hold,
          this.#read('realm', this.keycloak.realm),
          this.#flows(),
          this.now,
        );
        if (check.kind === 'end') return { did: 'rollBack', outcome: check.outcome };
        if (check.kind === 'holdOnly') {
          const sent = this.#putRealm(
            { purpose: 'marks', before: check.realm },
            marksBody(check.realm, check.marks),
            'held',
          );
          return { did: 'rollBack', outcome: sent.kind === 'written' ? check.outcome : sent };
        }
        const body = bindingBody(check.realm, check.to, check.marks);
        const sent = this.#putRealm(
          { purpose: 'bind', before: check.realm, to: check.to },
          body,
          `"${check.to}" is bound again`,
        );
        return { did: 'rollBack', outcome: this.#readBack(sent, { browserFlow: check.to, marks: check.marks }) };
      }
      case 'liftHold': {
        const check = checkLift(this.#read('realm', this.keycloak.realm), command.by);
        if (check.kind === 'end') return { did: 'liftHold', outcome: check.outcome };
        const body = marksBody(check.realm, check.marks);
        return {
          did: 'liftHold',
          outcome: this.#putRealm({ purpose: 'marks', before: check.realm }, body, check.message),
        };
      }
    }
  }

  #observe(): FlowObservation {
    const readings = this.readings();
    const first = observationOf(this.#desired, NAME, readings, this.now);
    if (!asksAuthenticators(first)) return first;
    const authenticators = this.#read('authenticators', this.authenticators);
    return observationOf(this.#desired, NAME, { ...readings, authenticators }, this.now);
  }

  readings(): FlowReadings {
    const { keycloak } = this;
    const flows = this.#flows();
    const listed = keycloak.listFlows();
    const candidateAliases = candidatesToRead(this.#desired, listed);
    const readBacks = Object.fromEntries([
      ...candidateAliases.map((alias) => [alias, this.#read('candidates', keycloak.readBack(alias))] as const),
      [this.bound, this.#read('boundFlow', keycloak.readBack(this.bound))] as const,
    ]) as Record<string, Reading<FlowReadBack>>;
    return {
      bindSwitch: readBindSwitch(this.#read('switch', this.bindSwitch), 'ConfigMap sso/login, key bind'),
      realm: this.#read('realm', keycloak.realm),
      requiredActions: this.#read('requiredActions', keycloak.requiredActions),
      unregistered: read([]),
      flows,
      readBacks,
      authenticators: null,
    };
  }

  get #desired() {
    return this.state.spec.desired;
  }

  #read<T>(what: What, value: T): Reading<T> {
    return this.unreadable[what] ?? read(structuredClone(value));
  }

  #flows() {
    return this.#read('flows', this.keycloak.listFlows());
  }

  #scope(more: Partial<Scope> = {}): Scope {
    return {
      ...readingScope('shop', 'shop', modeOfCommand(this.state, this.#doing)),
      protected: this.unreadable.protected ?? this.keycloak.protectedSets('probe'),
      ...more,
    };
  }

  #send(request: ScreenedRequest, scope: Scope): WriteAnswer {
    const screened = screen(request, scope);
    if (screened.kind === 'refuse') return { kind: 'refused', message: `${screened.reason}: ${screened.message}` };
    this.sent(request);
    const { status } = this.keycloak.send(request);
    const answer: WriteAnswer =
      status < 300
        ? { kind: 'accepted' }
        : status === 409
          ? { kind: 'taken', message: 'the alias is taken' }
          : { kind: 'refused', message: `${status}` };
    return this.answer(request, answer);
  }

  #construct(alias: string): BuildOutcome {
    const candidate = candidates(this.#desired).find((other) => other.alias === alias);
    if (candidate === undefined) return { kind: 'failed', reason: 'NoCandidate', message: alias };
    const description = candidateDescription(NAME, contentHash(this.#desired));
    let progress = newBuild;
    let readBack = this.keycloak.readBack(alias);
    for (;;) {
      const step = nextBuildStep(progress, nextConstruction(this.#desired, candidate, NAME, readBack));
      if (step.do === 'verify' && readBack !== null) {
        const verification = verify(this.#desired, readBack);
        if (verification.kind === 'unmeasured') return verification;
        if (verification.kind === 'verified')
          return { kind: 'built', flowId: readBack.flow.id, treeHash: verification.treeHash };
        return { kind: 'left', why: verification.differences.join('; '), created: true };
      }
      if (step.do === 'leave') return { kind: 'left', why: step.why, created: readBack !== null };
      if (step.do === 'stop')
        return step.because.kind === 'fail'
          ? { kind: 'failed', reason: 'BuildFailed', message: step.because.message }
          : step.because;
      if (step.do === 'readAgain') progress = step.progress;
      if (step.do === 'write') {
        const build = buildScope(candidate, description, readBack?.rows ?? null);
        progress = afterWrite(progress, step.write, this.#send(requestOf('shop', step.write), this.#scope({ build })));
      }
      readBack = this.keycloak.readBack(alias);
    }
  }

  #writePolicy(): WriteOutcome {
    const policy = this.#desired.webAuthnPolicyPasswordless;
    const realm = this.#read('realm', this.keycloak.realm);
    if (realm.kind === 'unmeasured') return { kind: 'notRead', message: realm.message };
    const body = policyBody(realm.value, policyDrift(policy, realm.value));
    const sent = this.#putRealm({ purpose: 'policy', before: realm.value, policy }, body, 'the policy is put right');
    if (sent.kind !== 'written') return sent;
    const faults = policyReadBack(policy, realm.value, this.keycloak.realm);
    return faults.length === 0 ? sent : { kind: 'failed', reason: 'NotStored', message: faults.join('; ') };
  }

  #writeRequiredAction(): WriteOutcome {
    const found = this.keycloak.requiredActions.find((action) => action.alias === enrolmentAction);
    if (found === undefined) return { kind: 'stopped', reason: 'Gone', message: 'gone' };
    const path = `/admin/realms/shop/authentication/required-actions/${enrolmentAction}`;
    const answer = this.#send(
      { method: 'PUT', path, body: requiredActionBody(found) },
      this.#scope({ requiredAction: found }),
    );
    return this.#outcome(answer, 'the required action is put right');
  }

  #bind(command: BindCommand): WriteOutcome {
    const fresh = {
      bindSwitch: readBindSwitch(this.#read('switch', this.bindSwitch), 'the switch'),
      realm: this.#read('realm', this.keycloak.realm),
      flows: this.#flows(),
      candidate: this.#read('candidates', this.keycloak.readBack(command.candidate)) as Reading<FlowReadBack>,
    };
    const check = checkBind(this.#desired, NAME, command, fresh, this.now);
    if (check.kind === 'end') return check.outcome;
    this.binds.push(command);
    const body = bindingBody(check.realm, command.candidate, check.marks);
    const sent = this.#putRealm(
      { purpose: 'bind', before: check.realm, to: command.candidate },
      body,
      `"${command.candidate}" is bound`,
    );
    return this.#readBack(sent, { browserFlow: command.candidate, marks: check.marks });
  }

  #putRealm(realmWrite: RealmWrite, body: JsonObject, message: string): WriteOutcome {
    return this.#outcome(
      this.#send({ method: 'PUT', path: '/admin/realms/shop', body }, this.#scope({ realmWrite })),
      message,
    );
  }

  #readBack(sent: WriteOutcome, wanted: { browserFlow: string; marks: RealmMarks }): WriteOutcome {
    if (sent.kind !== 'written') return sent;
    const fault = bindingFault(wanted, this.keycloak.realm);
    return fault === null ? sent : { kind: 'failed', reason: 'NotBound', message: fault };
  }

  #outcome(answer: WriteAnswer, message: string): WriteOutcome {
    switch (answer.kind) {
      case 'accepted':
        return { kind: 'written', message };
      case 'unknown':
        return { kind: 'unmeasured', what: 'a write', from: 'Keycloak', why: 'timeout', message: answer.message };
      default:
        return { kind: 'stopped', reason: 'Refused', message: answer.message };
    }
  }
}

/** The realm as somebody else left it. */
export function edit(simulation: Simulation, changes: Partial<RealmRepresentation> & Record<string, unknown>): void {
  simulation.keycloak.realm = { ...simulation.keycloak.realm, ...changes };
}
