import { expect, test } from 'vitest';
import { nodeRebootStatus } from '../../../src/domain/node-reboot/status.ts';
import { Campaign, HOUR, NOW, observation } from './world.ts';

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

test('NR-70 a node that hangs is paged once, and watched on after that', () => {
  const campaign = new Campaign().at('Returning', { rebootAt: NOW });
  campaign.take({ of: 'awaitReturn', outcome: 'hung', message: 'node n1 hangs' });
  expect(campaign.pages()).toEqual(['Hung']);
  expect(campaign.next().do).toBe('awaitReturn');
});
