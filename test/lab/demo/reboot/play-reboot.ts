import { nodeRebootId } from '../../../../src/workflows/node-reboot/messages.ts';
import type { Played, PlayOptions } from '../play.ts';
import { tellStory } from '../tell-story.ts';
import { followNodes } from './follow-nodes.ts';
import { REBOOT_CHAPTERS } from './reboot-chapters.ts';
import type { RebootStage } from './reboot-stage.ts';
import { setUpReboot } from './set-up-reboot.ts';

/** Three nodes that really reboot: one gate blocks, each goes when a person says so, and the last one hangs. */
export async function playReboot(options: PlayOptions): Promise<Played> {
  const { timeline, undo, signal } = options;
  timeline.say('Holdfast demo: three nodes that want a reboot\n');
  const stage = await setUpReboot(options);
  for (const line of opening(stage)) timeline.say(line);
  timeline.begin();
  const follower = await followNodes(stage, timeline, signal);
  undo(() => follower.stop());
  const allSeen = await tellStory({ stage, timeline, follower, signal }, REBOOT_CHAPTERS);
  return { allSeen, labDir: stage.lab.dir, stopFollowing: () => follower.stop(), lookAround: lookAround(stage) };
}

function opening(stage: RebootStage): readonly string[] {
  const { lab, nodes, name, specFile } = stage;
  return [
    '',
    `  Temporal UI  ${uiOf(stage)}`,
    `  Cluster      Kubernetes at ${lab.apiServer}: ${nodes.names.join(', ')}, each a kubelet and a containerd`,
    '               that share this kernel, with process, network and file namespaces and a boot id of their own.',
    `  Reboots      nodereboot/${name} (${specFile})`,
    '',
    '  Times are seconds. "holdfast" is what it reports itself, "cluster" what the API server shows, "machine" what',
    '  happens to a machine, "pager" what a person is sent, "check" what the demo makes sure of.',
  ];
}

function lookAround(stage: RebootStage): readonly string[] {
  const { lab, name } = stage;
  return [
    '',
    'Everything stays up. Look around:',
    `  ${uiOf(stage)}`,
    `  export TEMPORAL_ADDRESS=${lab.temporalAddress} KUBECONFIG=${lab.kubeconfig}`,
    `  npm run -s holdfast -- status nodereboot/${name}`,
    `  npm run -s holdfast -- history nodereboot/${name}`,
    '  kubectl get nodes',
    'Take it down:',
    `  npm run -s lab -- down --dir ${lab.dir}`,
  ];
}

function uiOf({ lab, name }: RebootStage): string {
  return `${lab.temporalUi}/namespaces/default/workflows/${encodeURIComponent(nodeRebootId(name))}`;
}
