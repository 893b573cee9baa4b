import { advanceCampaign, type Advanced } from '../../../src/domain/node-reboot/advance-campaign.ts';
import { parseAction } from '../../../src/domain/node-reboot/actions.ts';
import { applyAction } from '../../../src/domain/node-reboot/apply-action.ts';
import { applyResult, stillCounts } from '../../../src/domain/node-reboot/apply-result.ts';
import { cordonMark, releaseLockByHand } from '../../../src/domain/node-reboot/by-hand.ts';
import type { CampaignCommand } from '../../../src/domain/node-reboot/command.ts';
import type { HolderRun } from '../../../src/domain/node-reboot/lock.ts';
import type { CampaignResult } from '../../../src/domain/node-reboot/result.ts';
import { nodeRebootSpec, type NodeRebootSpec, type NodeRebootSpecInput } from '../../../src/domain/node-reboot/spec.ts';
import { initialState, type CampaignState } from '../../../src/domain/node-reboot/state.ts';
import type { Visit } from '../../../src/domain/node-reboot/visit.ts';
import {
  perform,
  shippedActivities,
  type Activity,
  type ActivityDecisions,
  type NodeWrite,
} from './simulated-activities.ts';
import {
  bootId,
  bootUp,
  isOut,
  SimulatedCluster,
  wish,
  type BootFault,
  type SimulatedNode,
} from './simulated-cluster.ts';

/** The decisions that are played: those that are shipped, or the same with a bug in one of them. */
export interface Decisions {
  readonly advance: (state: CampaignState, now: number) => Advanced;
  readonly apply: (state: CampaignState, result: CampaignResult, now: number) => CampaignState;
  readonly activities: ActivityDecisions;
}

export const shipped: Decisions = { advance: advanceCampaign, apply: applyResult, activities: shippedActivities };

/** A promise that was broken, by its name. */
export class Broken extends Error {
  readonly promise: string;
  constructor(promise: string, message: string) {
    super(`${promise}: ${message}`);
    this.promise = promise;
  }
}

/** What may happen in a story. Numbers name one of what there is, whatever there is. */
export type Happening =
  /** A campaign's worker does its next step, so many times. */
  | { readonly kind: 'run'; readonly campaign: number; readonly steps: number }
  /** The worker dies: what it did goes on as a ghost, and another one does it again. */
  | { readonly kind: 'crash'; readonly campaign: number }
  /** What it does takes effect, and nobody hears of it. */
  | { readonly kind: 'lose'; readonly campaign: number }
  /** What was taken for dead does its next step. */
  | { readonly kind: 'ghost'; readonly which: number; readonly steps: number }
  | { readonly kind: 'terminate'; readonly campaign: number }
  | { readonly kind: 'time'; readonly ms: number }
  | { readonly kind: 'apiDown'; readonly ms: number }
  | { readonly kind: 'wish' | 'unwish'; readonly node: number }
  | { readonly kind: 'fault'; readonly node: number; readonly fault: BootFault }
  | { readonly kind: 'kubelet'; readonly node: number; readonly runs: boolean }
  | { readonly kind: 'powerLoss' | 'power' | 'block' | 'unblock'; readonly node: number }
  | { readonly kind: 'person'; readonly does: 'cordon' | 'uncordon'; readonly node: number }
  | { readonly kind: 'kured'; readonly node: number | null }
  | { readonly kind: 'lockByHand'; readonly does: 'release' | 'delete' | 'create' }
  | { readonly kind: 'act'; readonly campaign: number; readonly action: PersonAction };

export type PersonAction = 'approve' | 'cancel' | 'retry' | 'pause' | 'resume' | 'releaseLock' | 'runNow';

/** A campaign with the workflow run that plays it. */
interface Campaign {
  readonly name: string;
  spec: NodeRebootSpec;
  run: string;
  state: CampaignState;
  /** What its worker is at. */
  work: { readonly command: CampaignCommand; readonly activity: Activity } | null;
  ended: boolean;
}

interface Ghost {
  readonly activity: Activity;
}

/** Counts of what a story came to, so that a test can tell that it came to something. */
export interface Coverage {
  steps: number;
  /** The same by what the worker was at. */
  stepsOf: Partial<Record<CampaignCommand['do'], number>>;
  cordons: number;
  reboots: number;
  uncordons: number;
  finished: number;
  stops: number;
  adoptions: number;
  ghostWrites: number;
}

export function noCoverage(): Coverage {
  const none = { cordons: 0, reboots: 0, uncordons: 0, finished: 0, stops: 0, adoptions: 0, ghostWrites: 0 };
  return { steps: 0, stepsOf: {}, ...none };
}

export interface Story {
  /** Nodes are told by a command of the worker, which leaves nothing behind that shows it [by a pod, which does]. */
  readonly byCommand?: boolean;
  readonly approval: NodeRebootSpecInput['approval'];
  /** Which nodes want a reboot at the beginning, and what it will come to. */
  readonly wishes: readonly boolean[];
  readonly faults: readonly BootFault[];
  readonly happenings: readonly Happening[];
}

export const nodeNames = ['n1', 'n2', 'n3'] as const;

/**
 * Plays a story.
 *
 * @param only the promise that is watched [all of them]
 * @throws Broken when a promise is
 */
export function simulate(story: Story, decisions: Decisions, coverage: Coverage, only?: string): void {
  new Simulation(story, decisions, coverage, only).play();
}

class Simulation {
  readonly cluster = new SimulatedCluster(nodeNames);
  readonly campaigns: Campaign[];
  readonly ghosts: Ghost[] = [];
  readonly runs = new Map<string, HolderRun>();
  readonly story: Story;
  readonly decisions: Decisions;
  readonly coverage: Coverage;
  readonly only: string | undefined;
  /** Nodes that people have cordoned, and that are theirs to uncordon. */
  readonly cordonedByPeople = new Set<string>();
  /** When each campaign last saw, under the lock, that every other node was in. */
  readonly sawAllIn = new Map<string, number>();
  /** A person has taken the lock away: from then on the world is theirs. */
  lockTouched = false;
  inGhost = false;
  #runs = 0;

  constructor(story: Story, decisions: Decisions, coverage: Coverage, only: string | undefined) {
    this.only = only;
    this.story = story;
    this.decisions = decisions;
    this.coverage = coverage;
    // Each begins at another end, so that they are after different nodes.
    this.campaigns = [this.#newCampaign('blue', nodeNames), this.#newCampaign('green', [...nodeNames].reverse())];
    for (const [index, node] of this.cluster.nodes.entries()) {
      node.sentinel = story.wishes[index] === true ? wish : null;
      node.fault = story.faults[index] ?? 'none';
    }
  }

  play(): void {
    for (const happening of this.story.happenings) {
      this.#happen(happening);
      this.#checkLock();
    }
    this.#endWell();
  }

  #newCampaign(name: string, nodes: readonly string[]): Campaign {
    const spec = nodeRebootSpec.parse({
      mode: 'Enforce',
      nodes: [...nodes],
      neverFirst: ['n2'],
      kernelFloor: '6.13',
      approval: this.story.approval,
      ...(this.story.byCommand === true ? { method: { command: 'bmc' } } : {}),
    });
    const run = this.#newRun();
    return { name, spec, run, state: initialState(name, run, spec), work: null, ended: false };
  }

  #newRun(): string {
    const run = `run-${++this.#runs}`;
    this.runs.set(run, 'running');
    return run;
  }

  #happen(happening: Happening): void {
    const { cluster } = this;
    const node = 'node' in happening && happening.node !== null ? cluster.nodes[happening.node % 3] : undefined;
    switch (happening.kind) {
      case 'run':
        for (let count = 0; count < happening.steps; count++) this.#step(this.#campaign(happening.campaign));
        return;
      case 'crash':
        return this.#crash(this.#campaign(happening.campaign));
      case 'lose':
        return this.#lose(this.#campaign(happening.campaign));
      case 'ghost':
        return this.#haunt(happening.which, happening.steps);
      case 'terminate':
        return this.#terminate(this.#campaign(happening.campaign));
      case 'time':
        return cluster.pass(happening.ms);
      case 'apiDown':
        // Nobody reads or writes meanwhile, so that it is time that passes.
        return cluster.pass(happening.ms);
      case 'kured':
        return this.#kured(node);
      case 'lockByHand':
        return this.#lockByHand(happening.does);
      case 'act':
        return this.#act(this.#campaign(happening.campaign), happening.action);
      default:
        if (node !== undefined) this.#toNode(happening, node);
    }
  }

  #campaign(number: number): Campaign {
    return this.campaigns[number % 2] as Campaign;
  }

  #toNode(happening: Extract<Happening, { node: number }>, node: SimulatedNode): void {
    switch (happening.kind) {
      case 'wish':
      case 'unwish':
        node.sentinel = happening.kind === 'wish' ? wish : null;
        return;
      case 'fault':
        node.fault = happening.fault;
        return;
      case 'kubelet':
        node.kubelet = happening.runs;
        return;
      case 'powerLoss':
        node.up = false;
        node.upAt = null;
        return;
      case 'power':
        if (!node.up) bootUp(node);
        return;
      case 'block':
      case 'unblock':
        node.blocked = happening.kind === 'block';
        return;
      case 'person':
        return this.#personCordons(node, happening.does);
    }
  }

  #personCordons(node: SimulatedNode, does: 'cordon' | 'uncordon'): void {
    if (does === 'cordon' && !node.unschedulable) this.cordonedByPeople.add(node.name);
    if (does === 'uncordon') this.cordonedByPeople.delete(node.name);
    if (node.unschedulable !== (does === 'cordon')) node.cordonManager = does === 'cordon' ? 'kubectl-cordon' : null;
    node.unschedulable = does === 'cordon';
    node.resourceVersion += 1;
  }

  /** Another reboot daemon takes its lock and reboots a node, or is done. */
  #kured(node: SimulatedNode | undefined): void {
    this.cluster.foreignLock = node === undefined ? null : `kured holds its lock for ${node.name}`;
  }

  #lockByHand(does: 'release' | 'delete' | 'create'): void {
    const { cluster } = this;
    if (does === 'create') {
      if (cluster.lock === null) cluster.lock = {};
      return;
    }
    this.lockTouched = true;
    cluster.lock = does === 'delete' ? null : {};
    cluster.lockVersion += 1;
  }

  #act(campaign: Campaign, name: PersonAction): void {
    if (campaign.ended) return;
    const payload = this.#payload(campaign, name);
    if (payload === null) return;
    const parsed = parseAction(name, { by: 'ana', ...payload });
    if (!parsed.ok) throw new Error(parsed.message);
    const before = campaign.state;
    const answer = applyAction(campaign.state, parsed.action, this.cluster.now);
    if (!answer.ok) return;
    campaign.state = answer.state;
    // A node whose lock a person has released is theirs.
    if (name === 'releaseLock' && before.visit !== null) this.lockTouched = true;
  }

  #payload({ state }: Campaign, name: PersonAction): Record<string, unknown> | null {
    if (name === 'releaseLock') return state.visit === null ? null : { node: state.visit.node };
    if (name !== 'approve') return {};
    const { command } = this.decisions.advance(state, this.cluster.now);
    if (command.do !== 'wait' || command.for.kind !== 'approval') return null;
    return { node: command.for.offer.node, plan: command.for.hash };
  }

  /** One step of the worker: it begins what is to be done, goes on with it, or takes in what came of it. */
  #step(campaign: Campaign): void {
    this.coverage.steps += 1;
    if (campaign.ended) return this.#startAnew(campaign);
    if (campaign.work === null) {
      const { state, command } = this.decisions.advance(campaign.state, this.cluster.now);
      if (state.adopting !== null && campaign.state.adopting === null) this.coverage.adoptions += 1;
      campaign.state = state;
      if (command.do === 'done') {
        this.#count(command);
        campaign.ended = true;
        this.runs.set(campaign.run, 'ended');
        return;
      }
      campaign.work = { command, activity: perform(this.#around(campaign), command) };
      return this.#count(command);
    }
    this.#count(campaign.work.command);
    const { command, activity } = campaign.work;
    const next = activity.next();
    if (next.done !== true) return;
    campaign.work = null;
    if (!stillCounts(campaign.state, command)) return;
    this.#note(campaign, next.value);
    const wasStopped = campaign.state.stopped !== null;
    campaign.state = this.decisions.apply(campaign.state, next.value, this.cluster.now);
    if (!wasStopped && campaign.state.stopped !== null) this.coverage.stops += 1;
  }

  #count({ do: what }: CampaignCommand): void {
    const { stepsOf } = this.coverage;
    stepsOf[what] = (stepsOf[what] ?? 0) + 1;
  }

  /** What a campaign has seen under the lock, as the world knows it. */
  #note(campaign: Campaign, result: CampaignResult): void {
    if (result.of === 'releaseLock' && campaign.state.visit?.givingUp === null) this.coverage.finished += 1;
    if (result.of !== 'gatesBefore' && result.of !== 'lastCheck') return;
    const allIn = result.readings.every(({ verdict }) => verdict.kind === 'pass');
    if (allIn) this.sawAllIn.set(campaign.run, result.at);
    else this.sawAllIn.delete(campaign.run);
  }

  #startAnew(campaign: Campaign): void {
    campaign.run = this.#newRun();
    campaign.state = initialState(campaign.name, campaign.run, campaign.spec);
    campaign.work = null;
    campaign.ended = false;
  }

  #around(campaign: Campaign) {
    return {
      decide: this.decisions.activities,
      cluster: this.cluster,
      spec: campaign.spec,
      holderRun: (run: string): HolderRun => this.runs.get(run) ?? 'unknown',
      before: (write: NodeWrite) => this.#checkWrite(write),
    };
  }

  #crash(campaign: Campaign): void {
    if (campaign.work !== null) this.ghosts.push(campaign.work);
    campaign.work = null;
  }

  #lose(campaign: Campaign): void {
    // A wait on a node goes on for ever, so that it is not played to its end.
    for (let count = 0; count < 20 && campaign.work !== null; count++) {
      if (campaign.work.activity.next().done === true) campaign.work = null;
    }
    campaign.work = null;
  }

  #broken(promise: string, message: string): void {
    if (this.only === undefined || this.only === promise) throw new Broken(promise, message);
  }

  #haunt(which: number, steps: number): void {
    const ghost = this.ghosts[which % Math.max(1, this.ghosts.length)];
    if (ghost === undefined) return;
    this.inGhost = true;
    for (let count = 0; count < steps; count++) {
      if (ghost.activity.next().done === true) this.ghosts.splice(this.ghosts.indexOf(ghost), 1);
    }
    this.inGhost = false;
  }

  #terminate(campaign: Campaign): void {
    this.#crash(campaign);
    this.runs.set(campaign.run, 'ended');
    this.#startAnew(campaign);
  }

  /** The promises, at each write to a node. */
  #checkWrite({ what, node, record }: NodeWrite): void {
    if (this.inGhost) this.coverage.ghostWrites += 1;
    if (what === 'uncordon') return this.#checkUncordon(node, record.visit);
    this.coverage[what === 'cordon' ? 'cordons' : 'reboots'] += 1;
    const others = this.cluster.nodes.filter((other) => other !== node && other.mark !== null);
    const other = others[0];
    if (other !== undefined && !this.lockTouched) {
      this.#broken('one node at a time', `${what} of ${node.name} while ${other.name} carries a mark`);
    }
    const saw = this.sawAllIn.get(record.run);
    if (saw === undefined || this.cluster.now - saw > 60_000) {
      this.#broken('nobody else is out', `${what} of ${node.name} without having seen the others within a minute`);
    }
    if (what !== 'reboot') return;
    if (!node.unschedulable) this.#broken('drained first', `${node.name} is rebooted and not cordoned`);
    const told = this.cluster.reboots.filter((one) => one.node === node.name && one.boot === node.boot);
    if (told.length > 0) this.#broken('one command', `${node.name} is told twice to end boot ${node.boot}`);
  }

  #checkUncordon(node: SimulatedNode, { before, rebootAt, bootedAs }: Visit): void {
    this.coverage.uncordons += 1;
    const told = this.cluster.wasTold(node.name, before?.bootId ?? '');
    if (told && bootId(node) === before?.bootId) {
      this.#broken('a proven boot', `${node.name} is uncordoned and runs the boot that was told to end`);
    }
    const proven = rebootAt === null ? before?.bootId : bootedAs;
    if (node.mark !== null && bootId(node) !== proven) {
      this.#broken('a proven boot', `${node.name} is uncordoned and runs a boot that nobody has checked`);
    }
  }

  /** The lock tells the truth, and a person who reads it can go on. */
  #checkLock(): void {
    const { cluster } = this;
    for (const node of cluster.nodes) {
      if (this.cordonedByPeople.has(node.name) && !node.unschedulable) {
        this.#broken('what people cordon stays so', `${node.name} was cordoned by a person and is not any more`);
      }
    }
    if (cluster.lock === null || this.lockTouched) return;
    for (const campaign of this.campaigns) this.#checkStop(campaign);
    const marked = cluster.nodes.filter(({ mark }) => mark !== null);
    if (marked.length > 1) this.#broken('one node at a time', marked.map(({ name }) => name).join(', '));
    const [node] = marked;
    if (node === undefined) return;
    const undo = cluster.lock['undo'] ?? '';
    if (cluster.lock['node'] !== node.name) {
      this.#broken(
        'the lock tells',
        `${node.name} is cordoned by us, and the lock says ${cluster.lock['node'] ?? 'nothing'}`,
      );
    }
    if (!undo.includes(`${cordonMark}-`) || !undo.includes(releaseLockByHand)) {
      this.#broken('a way out', `${node.name} is cordoned by us, and the lock says only: ${undo}`);
    }
  }

  /** Whoever finds nothing but the lock reads why it stopped, and does not put a node to work that failed. */
  #checkStop({ state: { stopped, visit }, ended }: Campaign): void {
    if (ended || stopped?.inLock !== 'yes' || visit === null) return;
    const { reason = '', undo = '' } = this.cluster.lock ?? {};
    const isOutStill = undo.includes(`${cordonMark}-`);
    if (!reason.includes(stopped.reason) || (isOutStill && !undo.includes(stopped.reason))) {
      this.#broken(
        'the lock says why',
        `it stopped with ${stopped.reason}, and the lock says only: ${reason}; ${undo}`,
      );
    }
  }

  /** When everything works again and people do what they are told, every campaign comes to its end. */
  #endWell(): void {
    const { cluster } = this;
    cluster.foreignLock = null;
    cluster.lock ??= {};
    for (const node of cluster.nodes) {
      Object.assign(node, { fault: 'none', kubelet: true, blocked: false, memory: 16_000 });
      if (!node.up) bootUp(node);
      if (this.cordonedByPeople.has(node.name)) this.#personCordons(node, 'uncordon');
    }
    for (let round = 0; round < 400; round++) {
      cluster.pass(30_000);
      for (const campaign of this.campaigns) {
        for (let count = 0; count < 8; count++) this.#step(campaign);
        this.#act(campaign, 'approve');
        this.#help(campaign);
      }
      this.#checkLock();
      if (this.#isQuiet()) return;
    }
    const states = this.campaigns.map(
      ({ name, state }) => `${name}: ${state.visit?.phase ?? '-'} ${state.stopped?.reason ?? ''}`,
    );
    this.#broken(
      'it ends',
      `${states.join('; ')}; lock ${JSON.stringify(cluster.lock)}; out: ${cluster.nodes
        .filter(isOut)
        .map(({ name }) => name)
        .join(', ')}`,
    );
  }

  /** A person does what the campaign says. */
  #help(campaign: Campaign): void {
    const { state } = campaign;
    this.#act(campaign, 'resume');
    if (this.lockTouched) this.#putRightByHand();
    if (state.stopped === null) return;
    const { visit } = state;
    if (visit === null || visit.phase === 'Restored') return this.#act(campaign, 'retry');
    const node = this.cluster.node(visit.node);
    if (state.stopped.reason === 'RebootDidNothing') bootUp(node);
    if (['RebootDidNothing', 'NotSettled'].includes(state.stopped.reason)) return this.#act(campaign, 'retry');
    // The node is looked at, and the lock is given back.
    this.#act(campaign, 'releaseLock');
    node.sentinel = null;
  }

  /** What a person who takes the lock away answers for: nodes that carry a mark and whose lock is gone. */
  #putRightByHand(): void {
    for (const node of this.cluster.nodes) {
      if (node.mark === null || this.cluster.lock?.['node'] === node.name) continue;
      Object.assign(node, { mark: null, unschedulable: false, resourceVersion: node.resourceVersion + 1 });
    }
  }

  #isQuiet(): boolean {
    const free = Object.keys(this.cluster.lock ?? { held: '' }).length === 0;
    return free && !this.cluster.nodes.some(isOut) && this.campaigns.every(({ state }) => state.visit === null);
  }
}
