import { read, unmeasured, type Reading } from '../../../src/domain/core/verdict.ts';
import { applyAction } from '../../../src/domain/node-reboot/apply-action.ts';
import { parseAction, type NodeRebootAction } from '../../../src/domain/node-reboot/actions.ts';
import { advanceCampaign } from '../../../src/domain/node-reboot/advance-campaign.ts';
import { applyResult } from '../../../src/domain/node-reboot/apply-result.ts';
import type { CampaignCommand } from '../../../src/domain/node-reboot/command.ts';
import type { LockRecord } from '../../../src/domain/node-reboot/lock.ts';
import type { NodeReading } from '../../../src/domain/node-reboot/node.ts';
import type { CampaignObservation } from '../../../src/domain/node-reboot/observation.ts';
import type { CampaignResult } from '../../../src/domain/node-reboot/result.ts';
import type { Sentinel } from '../../../src/domain/node-reboot/sentinel.ts';
import { nodeRebootSpec, type NodeRebootSpec, type NodeRebootSpecInput } from '../../../src/domain/node-reboot/spec.ts';
import { initialState, type CampaignState } from '../../../src/domain/node-reboot/state.ts';
import { newVisit, type Visit, type VisitPhase } from '../../../src/domain/node-reboot/visit.ts';

/** A Monday, 12:00 UTC. */
export const NOW = Date.parse('2026-03-02T12:00:00Z');
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

export const oldKernel = '6.13.5-1';
export const newKernel = '6.14.0-37-generic';

export function spec(overrides: Partial<NodeRebootSpecInput> = {}): NodeRebootSpec {
  return nodeRebootSpec.parse({ mode: 'Enforce', nodes: ['n1', 'n2', 'n3'], kernelFloor: '6.13', ...overrides });
}

export function node(name: string, overrides: Partial<NodeReading> = {}): NodeReading {
  return {
    name,
    uid: `uid-${name}`,
    ready: true,
    heartbeatAt: NOW,
    unschedulable: false,
    cordonManager: null,
    cordonedBy: null,
    lastVisitAt: null,
    bootId: `${name}-boot-1`,
    kernel: oldKernel,
    memory: 16_000,
    ...overrides,
  };
}

export const kernelWish: Sentinel = { packages: [`linux-image-${newKernel}`], kernel: newKernel };

/** Three nodes, of which the named ones want a reboot. */
export function observation(
  wishing: readonly string[] = ['n1'],
  overrides: Partial<CampaignObservation> = {},
): CampaignObservation {
  const names = ['n1', 'n2', 'n3'];
  return {
    at: NOW,
    nodes: read(names.map((name) => node(name))),
    order: read(names),
    sentinels: Object.fromEntries(names.map((name) => [name, read(wishing.includes(name) ? kernelWish : null)])),
    lock: read({ holder: null, resourceVersion: '1' }),
    holderRun: 'unknown',
    foreignLock: read(null),
    incumbents: [],
    gates: [],
    ...overrides,
  };
}

export function silent<T>(what: string): Reading<T> {
  return unmeasured(what, 'API server', 'timeout', `${what} did not answer`);
}

/** A campaign, one step after the other. */
export class Campaign {
  state: CampaignState;
  now = NOW;
  /** What was written to the lock of stops. */
  readonly noted: LockRecord[] = [];

  constructor(overrides: Partial<NodeRebootSpecInput> = {}) {
    this.state = initialState('control-plane', 'run-1', spec(overrides));
  }

  next(): CampaignCommand {
    const { state, command } = advanceCampaign(this.state, this.now);
    this.state = state;
    if (command.do !== 'noteStop') return command;
    // The lock hears of a stop at once, and what is asked for is what comes then.
    this.noted.push(command.record);
    return this.take({ of: 'noteStop', written: true });
  }

  take(result: CampaignResult): CampaignCommand {
    this.state = applyResult(this.state, result, this.now);
    return this.next();
  }

  sees(seen: CampaignObservation): CampaignCommand {
    return this.take({ of: 'look', observation: seen });
  }

  /** @returns what was done, or why it was refused */
  act(name: NodeRebootAction['action'], payload: Record<string, unknown> = {}): string {
    const parsed = parseAction(name, { by: 'ana', ...payload });
    if (!parsed.ok) return parsed.message;
    const answer = applyAction(this.state, parsed.action, this.now);
    if (!answer.ok) return answer.message;
    this.state = answer.state;
    return answer.record;
  }

  /** Approves whatever waits. */
  approve(): void {
    const command = this.next();
    if (command.do !== 'wait' || command.for.kind !== 'approval') throw new Error(`nothing waits: ${command.do}`);
    this.act('approve', { node: command.for.offer.node, plan: command.for.hash });
  }

  /** Delivers every page. @returns what they said */
  pages(): string[] {
    const said: string[] = [];
    for (let page = this.state.pages[0]; page !== undefined; page = this.state.pages[0]) {
      said.push(page.what);
      this.take({ of: 'page' });
    }
    return said;
  }

  /** Puts the campaign into the middle of a visit, holding the lock. */
  at(phase: VisitPhase, overrides: Partial<Visit> = {}): this {
    const visit = { ...newVisit('n1', kernelWish.packages.join(' '), newKernel, this.now), phase, ...overrides };
    this.state = { ...this.state, visit: { ...visit, before: overrides.before ?? before }, holds: true };
    return this;
  }
}

export const before = { bootId: 'n1-boot-1', kernel: oldKernel, memory: 16_000, unschedulable: false };
