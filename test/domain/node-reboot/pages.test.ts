import { expect, test } from 'vitest';
import { read } from '../../../src/domain/core/verdict.ts';
import { approvalNotification, withOfferTold } from '../../../src/domain/node-reboot/approval-notification.ts';
import type { CampaignCommand } from '../../../src/domain/node-reboot/command.ts';
import { nodeRebootStatus } from '../../../src/domain/node-reboot/status.ts';
import { before, Campaign, HOUR, NOW, observation } from './world.ts';

test('NR-70 nothing goes on before a page is delivered: no other node, no retry, no cancel', () => {
  const campaign = new Campaign({ approval: 'None' });
  campaign.sees(observation(['n1', 'n2']));
  campaign.at('Returning', { rebootAt: NOW });
  campaign.take({ of: 'awaitReturn', outcome: 'didNothing', message: 'the reboot did nothing' });
  expect(campaign.next()).toMatchObject({ do: 'page', page: { what: 'RebootDidNothing', severity: 'page' } });
  campaign.now += HOUR;
  campaign.act('retry');
  expect(campaign.next().do).toBe('page');
  expect(nodeRebootStatus(campaign.state, campaign.now).waiting?.reason).toBe('PageUndelivered');
  campaign.take({ of: 'page' });
  expect(campaign.next().do).toBe('awaitReturn');
});

test('NR-70 a node that hangs is paged once, and watched on before somebody takes the page and after that', () => {
  const campaign = new Campaign().at('Returning', { rebootAt: NOW });
  campaign.take({ of: 'awaitReturn', outcome: 'hung', message: 'node n1 hangs' });
  expect(campaign.next().do).toBe('awaitReturn');
  expect(nodeRebootStatus(campaign.state, campaign.now).waiting).toMatchObject({
    reason: 'Hung',
    next: expect.stringContaining('Nobody has taken the page Hung yet') as string,
  });
  expect(campaign.pages()).toEqual(['Hung']);
  expect(campaign.next().do).toBe('awaitReturn');
});

test('NR-70 a node that has come back goes no further while nobody has taken the page', () => {
  const campaign = new Campaign().at('Returning', { rebootAt: NOW });
  campaign.take({ of: 'awaitReturn', outcome: 'hung', message: 'node n1 hangs' });
  campaign.take({ of: 'awaitReturn', outcome: 'returned', bootId: 'n1-boot-2', message: 'it is back' });
  expect(campaign.state.visit).toMatchObject({ phase: 'Checking', bootedAs: 'n1-boot-2' });
  expect(campaign.next()).toMatchObject({ do: 'page', page: { what: 'Hung' } });
  expect(campaign.pages()).toEqual(['Hung']);
  expect(campaign.next().do).toBe('checkNode');
});

test('NR-92 before a node by way of which people reach the cluster is cordoned they are told, and once in its turn', () => {
  const campaign = new Campaign({ remoteAccess: ['n1'] });
  const offered = campaign.sees(observation(['n1']));
  expect(offered).toMatchObject({ do: 'wait', for: { kind: 'approval' } });
  const told = 'remote access goes by way of node n1, and drops until it is back';
  expect(nodeRebootStatus(campaign.state, campaign.now).waiting?.for).toContain(told);
  campaign.approve();
  campaign.next();
  campaign.take({ of: 'takeLock', outcome: 'held', message: '' });
  const gates = { of: 'gatesBefore', readings: [], before: read(before), at: campaign.now } as const;
  expect(campaign.take(gates)).toMatchObject({
    do: 'page',
    page: { what: 'RemoteAccess', text: expect.stringContaining(told) as string },
  });
  expect(campaign.take({ of: 'page' }).do).toBe('cordon');
  expect(campaign.take({ of: 'cordon', outcome: 'stale', message: '' }).do).toBe('gatesBefore');
  expect(campaign.take({ ...gates, before: read(before) }).do).toBe('cordon');
});

test('NR-92 nobody is told of the other nodes', () => {
  const campaign = new Campaign({ remoteAccess: ['n2'], approval: 'None' });
  campaign.sees(observation(['n1']));
  campaign.take({ of: 'takeLock', outcome: 'held', message: '' });
  expect(campaign.take({ of: 'gatesBefore', readings: [], before: read(before), at: NOW }).do).toBe('cordon');
});

test('people are told once that a node waits for their yes, with the command that gives it, and anew of another offer', () => {
  const campaign = new Campaign({ approval: 'PerNode', remoteAccess: ['n1'] });
  const told = (command: CampaignCommand) => {
    const said = approvalNotification(campaign.state, command);
    campaign.state = withOfferTold(campaign.state, command);
    return said;
  };
  const first = told(campaign.sees(observation(['n1'])));
  expect(first).toMatchObject({ what: 'AwaitingApproval', severity: 'warning' });
  expect(first?.text).toMatch(/remote access .* holdfast approve nodereboot\/control-plane --node n1 --plan \S+/);
  expect(told(campaign.sees(observation(['n1'])))).toBeNull();
  expect(told(campaign.sees(observation(['n2'])))?.subject).toContain('node n2');
  campaign.approve();
  expect(told(campaign.next())).toBeNull();
});
