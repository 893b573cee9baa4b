import { describe, expect, test } from 'vitest';
import { fail, pass, read } from '../../../src/domain/core/verdict.ts';
import type { GateReading } from '../../../src/domain/node-reboot/gate.ts';
import { nodeRebootHistory } from '../../../src/domain/node-reboot/history.ts';
import { planCampaign } from '../../../src/domain/node-reboot/plan.ts';
import { statusText } from '../../../src/domain/node-reboot/status-text.ts';
import { nodeRebootStatus, type NodeRebootStatus } from '../../../src/domain/node-reboot/status.ts';
import { describeRebootChanges } from '../../../src/starters/node-reboot/changes.ts';
import { rebootHistoryView } from '../../../src/starters/node-reboot/history-view.ts';
import { rebootListView } from '../../../src/starters/node-reboot/list-view.ts';
import { isAtRest, rebootOutcome } from '../../../src/starters/node-reboot/outcome.ts';
import { campaignPlanExitCode, campaignPlanView } from '../../../src/starters/node-reboot/plan-view.ts';
import { rebootStatusView } from '../../../src/starters/node-reboot/status-view.ts';
import { Campaign, HOUR, MINUTE, NOW, observation, silent, spec } from '../../domain/node-reboot/world.ts';

const dns: GateReading = { gate: 'dns', verdict: fail('TooFew', 'one replica is ready'), lift: 'start another' };

function statusOf(campaign: Campaign): NodeRebootStatus {
  return nodeRebootStatus(campaign.state, campaign.now);
}

/** A campaign that sees these nodes want a reboot. */
function seeing(wishing: readonly string[], overrides: ConstructorParameters<typeof Campaign>[0] = {}): Campaign {
  const campaign = new Campaign(overrides);
  campaign.sees(observation(wishing));
  return campaign;
}

/** One whose node hangs. */
function hanging(): Campaign {
  return new Campaign().at('Returning', { rebootAt: NOW, hungSince: NOW });
}

/** One that has stopped, and told so. */
function stopped(): Campaign {
  const campaign = new Campaign().at('Returning', { rebootAt: NOW });
  campaign.take({ of: 'awaitReturn', outcome: 'didNothing', message: 'the reboot did nothing' });
  campaign.pages();
  return campaign;
}

describe('the view of reboots', () => {
  test('says of each node why it does not go now, and the command that lifts it', () => {
    const view = rebootStatusView(statusOf(seeing(['n1', 'n2'])));
    expect(view).toMatch(/n1 +wanted +\S+ +it waits for an approval of the reboot of node n1/);
    expect(view).toMatch(/n2 +wanted +\S+ +node n1 goes first \(AwaitingApproval\)/);
    expect(view).toMatch(/n3 +none +\S+ +it wants no reboot/);
    expect(view).toMatch(/ {2}next: +holdfast approve nodereboot\/control-plane --node n1 --plan sha256:/);
  });

  test('says whose turn it is while another one waits for it', () => {
    const campaign = seeing(['n1', 'n2']).at('Draining');
    const view = rebootStatusView(statusOf(campaign));
    expect(view).toMatch(/Turn: +node n1, since .*\n +in: +Draining/);
    expect(view).toMatch(/n2 +wanted +\S+ +it is the turn of node n1 \(Draining\)/);
    expect(view).not.toContain('without Holdfast');
  });

  test('shows the gates that block with what lifts them', () => {
    const campaign = new Campaign({ approval: 'None' });
    const gates = [dns, { gate: 'nodes', verdict: pass('3 nodes are Ready'), lift: null }];
    campaign.sees(observation(['n1'], { gates }));
    const view = rebootStatusView(statusOf(campaign));
    expect(view).toContain('The gates of the node that is next, as they were last read; 1 of 2 do not pass:');
    expect(view).toMatch(/dns +fail +TooFew +one replica is ready +start another/);
    expect(statusOf(campaign).gates).toMatchObject([{ reason: 'TooFew' }, { reason: null }]);
    expect(statusText(statusOf(campaign))).toContain('- gate dns: fail (TooFew), one replica is ready');
    expect(view).toMatch(/n1 +wanted +\S+ +it waits for the gates of node n1: dns: one replica is ready/);
  });

  test.each([
    ['hangs', hanging],
    ['has stopped', stopped],
  ])('that %s shows how to go on without Holdfast', (_, make) => {
    const view = rebootStatusView(statusOf(make()));
    expect(view).toContain('To go on without Holdfast, as the lock says too:');
    expect(view).toContain('kubectl -n holdfast patch configmap node-reboot-lock');
  });

  test('that hangs says who can bring it back', () => {
    expect(statusOf(hanging()).waiting).toMatchObject({ reason: 'Hung', for: 'node n1 to come back', who: 'person' });
    expect(rebootStatusView(statusOf(hanging()))).toMatch(/ {2}next: +press its power button/);
  });

  test('says that a page was not delivered, since nothing goes on before', () => {
    const campaign = new Campaign().at('Returning', { rebootAt: NOW });
    campaign.take({ of: 'awaitReturn', outcome: 'didNothing', message: 'the reboot did nothing' });
    expect(statusOf(campaign).waiting).toMatchObject({ reason: 'PageUndelivered', who: 'outside' });
  });

  test('lists a line each, and one that does not answer', () => {
    const listed = [
      { name: 'control-plane', status: statusOf(seeing(['n1'])), problem: null },
      { name: 'workers', status: null, problem: 'no worker polls' },
    ];
    const view = rebootListView(listed);
    expect(view).toMatch(/nodereboot\/control-plane +Waiting +Enforce +default +- +0 +1 +an approval/);
    expect(view).toMatch(/nodereboot\/workers +no answer .*no worker polls/);
  });

  test('the history has what was decided and what came of it, the newest first', () => {
    const campaign = seeing(['n1']);
    campaign.approve();
    const view = rebootHistoryView(nodeRebootHistory(campaign.state));
    expect(view).toMatch(/ana +decided +approves the reboot of node n1/);
  });
});

describe('what changes while somebody watches', () => {
  test('is told once: a turn and its phases, a node that is done, a stop', () => {
    const before = statusOf(seeing(['n1']));
    const draining = statusOf(seeing(['n1']).at('Draining'));
    expect(describeRebootChanges(before, draining)).toEqual(['node n1: Draining']);
    expect(describeRebootChanges(draining, draining)).toEqual([]);
    const done = { ...before, nodes: before.nodes.map((one) => ({ ...one, reboot: 'done' as const })).slice(0, 1) };
    expect(describeRebootChanges(before, done)[0]).toMatch(/^node n1: rebooted, kernel /);
    expect(describeRebootChanges(draining, statusOf(stopped()))).toContain(
      'stopped: RebootDidNothing: the reboot did nothing',
    );
  });

  test('says what a person has to do, and not that nobody wants anything', () => {
    expect(describeRebootChanges(null, statusOf(seeing(['n1']))).at(-1)).toMatch(/^waits for a person; next: holdfast/);
    expect(describeRebootChanges(null, statusOf(seeing([])))).toEqual([]);
  });
});

describe('what reboots come to, for scripts', () => {
  test.each<[string, Campaign, number]>([
    ['no node wants a reboot', seeing([]), 0],
    ['Shadow has looked', seeing(['n1'], { mode: 'Shadow' }), 0],
    ['an approval is waited for', seeing(['n1']), 4],
    ['it is suspended', seeing(['n1'], { suspend: true }), 4],
    ['a node hangs', hanging(), 1],
    ['it has stopped', stopped(), 1],
  ])('where %s', (_, campaign, exitCode) => {
    const status = statusOf(campaign);
    expect(isAtRest(status)).toBe(true);
    expect(rebootOutcome(status).exitCode).toBe(exitCode);
  });

  test('a gate or a window is a measured reason, and what could not be read is undetermined', () => {
    const blocked = new Campaign({ approval: 'None' });
    blocked.sees(observation(['n1'], { gates: [dns] }));
    expect(rebootOutcome(statusOf(blocked)).exitCode).toBe(1);
    const unread = new Campaign();
    unread.sees(observation(['n1'], { nodes: silent('the nodes') }));
    expect(rebootOutcome(statusOf(unread)).exitCode).toBe(3);
  });

  test('nothing is at rest while a node has its turn, or nothing was read yet', () => {
    expect(isAtRest(statusOf(seeing(['n1']).at('Draining')))).toBe(false);
    expect(isAtRest(statusOf(new Campaign()))).toBe(false);
  });
});

describe('a plan of reboots', () => {
  const planOf = (
    wishing: readonly string[],
    overrides: ConstructorParameters<typeof Campaign>[0] = {},
    gates: Record<string, readonly GateReading[]> = {},
    seen = observation(wishing),
  ) => planCampaign('control-plane', spec(overrides), seen, gates, NOW);

  test('with nothing to do ends with 0, and one with nodes that want it with 6', () => {
    expect(campaignPlanExitCode(planOf([]))).toBe(0);
    expect(campaignPlanExitCode(planOf(['n2']))).toBe(6);
  });

  test('ends with 1 while a gate of the node that is next does not pass, and not for the gates of those behind it', () => {
    expect(campaignPlanExitCode(planOf(['n1', 'n3'], {}, { n1: [dns], n3: [] }))).toBe(1);
    expect(campaignPlanExitCode(planOf(['n1', 'n3'], {}, { n1: [], n3: [dns] }))).toBe(6);
  });

  test('names each node in its order, what it waits for, and each gate as it is now', () => {
    const report = planOf(['n1', 'n3'], {}, { n1: [dns], n3: [] });
    const view = campaignPlanView({ kind: 'NodeReboot', name: 'control-plane', ...report });
    expect(view).toContain('nodereboot/control-plane: 2 of 3 nodes want a reboot');
    expect(view).toMatch(/1\. n1: .*\n +earliest 2026-03-02T12:00:00Z; waits for an approval, gate dns\n/);
    expect(view).toMatch(/dns +fail +TooFew +one replica is ready +start another/);
    expect(view).toMatch(/2\. n3: .*\n +earliest \S+; waits for an approval, node n1 before it/);
    expect(view).toMatch(/n2 +none/);
  });

  test('NR-92 warns of the node by way of which people reach the cluster, and of no other', () => {
    const plan = planOf(['n1', 'n2'], { remoteAccess: ['n2'] });
    const view = campaignPlanView({ kind: 'NodeReboot', name: 'control-plane', ...plan });
    expect(view).toMatch(/2\. n2: .*\n.*\n +note: remote access goes by way of node n2, and drops until it is back/);
    expect(view.match(/remote access/g)).toHaveLength(1);
  });

  test('lets none start before its window, nor before the checks and the pause after the one before it', () => {
    const window = { from: '22:00', to: '04:00', timeZone: 'Etc/UTC' };
    const { nodes } = planOf(['n1', 'n2'], { windows: [window], readyHold: '2m', releaseDelay: '30m' });
    const opens = Date.parse('2026-03-02T22:00:00Z');
    expect(nodes.map(({ earliest }) => (earliest === null ? null : Date.parse(earliest)))).toEqual([
      opens,
      opens + 32 * MINUTE,
      null,
    ]);
  });

  test('goes to the next window where this one would be over before the node is', () => {
    const window = { from: '12:00', to: '12:30', timeZone: 'Etc/UTC' };
    const wide = { from: '22:00', to: '04:00', timeZone: 'Etc/UTC' };
    const [first] = planOf(['n1'], { windows: [window, wide], worstCase: '1h' }).nodes;
    expect(first?.earliest).toBe(new Date(NOW + 10 * HOUR).toISOString().replace('.000', ''));
  });

  test('has a node that is not to be the first to boot its kernel go after one that may', () => {
    const { nodes } = planOf(['n1', 'n2'], { neverFirst: ['n1'] });
    expect(nodes.slice(0, 2).map(({ node }) => node)).toEqual(['n2', 'n1']);
  });

  test('where a rule keeps every node ends with 1 and says why', () => {
    const plan = planOf(['n1'], { kernelFloor: '7.0' });
    expect(campaignPlanExitCode(plan)).toBe(1);
    expect(plan.nodes[0]).toMatchObject({
      earliest: null,
      waitsFor: [expect.stringContaining('older than the floor 7.0'), 'an approval'],
    });
  });

  test('in which something could not be read is undetermined, whatever else it says', () => {
    const seen = observation(['n1'], { sentinels: { n1: silent('n1'), n2: read(null), n3: read(null) } });
    const plan = planOf([], {}, {}, seen);
    expect(campaignPlanExitCode(plan)).toBe(3);
    expect(campaignPlanView({ kind: 'NodeReboot', name: 'a', ...plan })).toContain('not read: n1 did not answer');
  });

  test('says who holds the lock', () => {
    const lock = read({
      holder: {
        campaign: 'workers',
        run: 'run-9',
        reason: '',
        visit: new Campaign().at('Draining').state.visit ?? expect.fail(),
      },
      resourceVersion: '7',
    });
    const plan = planOf(['n1'], {}, {}, observation(['n1'], { lock, holderRun: 'running' }));
    expect(plan.held).toEqual(['the lock is held by campaign workers, which is at n1 (Draining)']);
    expect(campaignPlanExitCode(plan)).toBe(1);
  });
});
