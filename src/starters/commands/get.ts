import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { exitCodes } from '../exit-codes.ts';
import { findKind, kindNames, unknownKind, type KindName } from '../kind-names.ts';
import type { Listed } from '../list-entities.ts';
import { outputOption, printData } from '../output/data.ts';
import { examples } from '../output/examples.ts';
import { note, print } from '../output/print.ts';
import { listFlows } from '../keycloak-flow/list-flows.ts';
import { flowListView } from '../keycloak-flow/list-view.ts';
import { listCampaigns } from '../node-reboot/list-campaigns.ts';
import { rebootListView } from '../node-reboot/list-view.ts';
import { listReleases } from '../release/list-releases.ts';
import { listView } from '../release/list-view.ts';
import { withTemporal } from '../temporal/connect.ts';

/** `holdfast get [KIND]`: what there is, a line each. */
export function getCommand() {
  return new Command('get')
    .description(
      'Lists what runs, with phase and what it waits for. One that does not answer is listed as not answering, and the exit code is 3.',
    )
    .argument('[kind]', 'such as release [all kinds]', parseKind)
    .addOption(outputOption())
    .addHelpText(
      'after',
      examples([
        ['holdfast get', ''],
        ['holdfast get keycloakflows', ''],
        ['holdfast get nodereboots', ''],
        ['holdfast get releases -o json', 'the whole status of each, for programs'],
      ]),
    )
    .action(async (kind, { output }) => {
      const asked: readonly KindName[] = kind === undefined ? kindNames : [kind];
      const { releases, flows, campaigns } = await withTemporal(async (temporal) => ({
        releases: asked.includes('Release') ? await listReleases(temporal) : [],
        flows: asked.includes('KeycloakFlow') ? await listFlows(temporal) : [],
        campaigns: asked.includes('NodeReboot') ? await listCampaigns(temporal) : [],
      }));
      const silent = [
        ...silentOf('Release', releases),
        ...silentOf('KeycloakFlow', flows),
        ...silentOf('NodeReboot', campaigns),
      ];
      if (output !== 'table') {
        const items = [...releases, ...flows, ...campaigns].flatMap((entry) => entry.status ?? []);
        printData(output, { items, unanswered: silent });
      } else if (releases.length + flows.length + campaigns.length === 0) {
        note('There is nothing yet; create something: holdfast apply -f FILE');
      } else {
        const views = [
          ...(releases.length === 0 ? [] : [listView(releases)]),
          ...(flows.length === 0 ? [] : [flowListView(flows)]),
          ...(campaigns.length === 0 ? [] : [rebootListView(campaigns)]),
        ];
        print(views.join('\n\n'));
      }
      if (silent.length > 0) process.exitCode = exitCodes.undetermined;
    });
}

function silentOf(kind: KindName, listed: readonly Listed<unknown>[]) {
  return listed.filter((entry) => entry.status === null).map(({ name, problem }) => ({ kind, name, message: problem }));
}

function parseKind(text: string): KindName {
  const kind = findKind(text);
  if (kind === undefined) throw new InvalidArgumentError(`${unknownKind(text)}.`);
  return kind;
}
