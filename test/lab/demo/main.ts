// `npm run demo`: one release on real parts, through a good image, an approval, a bad image and a swap by hand.
// `npm run demo -- keycloak`: one login flow on a real Keycloak, built, proven, approved, bound and taken back.
// `npm run demo -- reboot`: three nodes that really reboot, one after the other; the last one hangs.
import { Argument, Command, Option } from '@commander-js/extra-typings';
import { playLogin } from './keycloak/play-login.ts';
import { playRelease } from './play-release.ts';
import { playReboot } from './reboot/play-reboot.ts';
import { runDemo } from './run-demo.ts';

const plays = { release: playRelease, keycloak: playLogin, reboot: playReboot } as const;

await new Command('demo')
  .description(
    'Real parts, told as a timeline. release: a canary rolls, soaks, waits for you, fails and goes back. keycloak: a login flow is built, shown by logins, waits for you, is bound and goes back. reboot: three nodes are rebooted, each when you say so, and one of them hangs.',
  )
  .addArgument(new Argument('[story]').choices(['release', 'keycloak', 'reboot'] as const).default('release' as const))
  .option('--keep', 'leave everything running at the end, to look around', false)
  .addOption(new Option('--lab <folder>', 'play in a lab that runs already, which then stays').env('HOLDFAST_LAB_DIR'))
  .addHelpText(
    'after',
    `
Exit codes: 0 everything happened as told, 1 something did not, 130 left with Ctrl-C.`,
  )
  .exitOverride((end) => process.exit(end.exitCode === 0 ? 0 : 2))
  .action(async (story, { keep, lab }) => {
    const code = await runDemo({ keep, labFolder: lab ?? null, play: plays[story] });
    // What an interrupted story still waited for must not hold the process.
    process.exit(code);
  })
  .parseAsync();
