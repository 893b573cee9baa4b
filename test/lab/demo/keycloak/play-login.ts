import type { Played, PlayOptions } from '../play.ts';
import { tellStory } from '../tell-story.ts';
import { LOGIN_CHAPTERS } from './chapters.ts';
import { followRealm } from './follow-realm.ts';
import type { LoginStage } from './login-stage.ts';
import { setUpLogin } from './set-up-login.ts';

/** One login flow on a real Keycloak: built, shown by logins, approved, bound, looked after and taken back. */
export async function playLogin(options: PlayOptions): Promise<Played> {
  const { timeline, undo, signal } = options;
  timeline.say('Holdfast demo: one login flow on a real Keycloak\n');
  const stage = await setUpLogin(options);
  for (const line of opening(stage)) timeline.say(line);
  timeline.begin();
  const follower = followRealm(stage, timeline, signal);
  undo(() => follower.stop());
  const allSeen = await tellStory({ stage, timeline, follower, signal }, LOGIN_CHAPTERS);
  return {
    allSeen,
    labDir: stage.lab.dir,
    stopFollowing: () => follower.stop(),
    lookAround: lookAround(stage),
  };
}

function opening(stage: LoginStage): readonly string[] {
  const { lab, realm, flow, specFile } = stage;
  return [
    '',
    `  Temporal UI  ${uiOf(stage)}`,
    `  Keycloak     ${realm.url}/admin/master/console/#/${realm.realm} (user admin, password ${lab.keycloakPassword})`,
    `  Flow         keycloakflow/${flow} (${specFile})`,
    '',
    '  Times are seconds. "holdfast" is what it reports itself, "keycloak" what Keycloak records of writes and logins,',
    '  "check" what the demo makes sure of, at Keycloak and by logging in.',
  ];
}

function lookAround(stage: LoginStage): readonly string[] {
  const { lab, flow, namespace } = stage;
  return [
    '',
    'Everything stays up. Look around:',
    `  ${uiOf(stage)}`,
    `  export TEMPORAL_ADDRESS=${lab.temporalAddress} TEMPORAL_NAMESPACE=${namespace}`,
    `  npm run -s holdfast -- status keycloakflow/${flow}`,
    `  npm run -s holdfast -- history keycloakflow/${flow}`,
    'Take it down:',
    `  npm run -s lab -- down --dir ${lab.dir}`,
  ];
}

function uiOf({ lab, namespace, flow }: LoginStage): string {
  return `${lab.temporalUi}/namespaces/${namespace}/workflows/${encodeURIComponent(`keycloakflow/${flow}`)}`;
}
