// `npm run demo`: one release on real parts, through a good image, an approval, a bad image and a swap by hand.
import { Command, Option } from '@commander-js/extra-typings';
import { runDemo } from './run-demo.ts';

await new Command('demo')
  .description(
    'A canary release on real parts, told as a timeline: it rolls, soaks, waits for you, fails and goes back.',
  )
  .option('--keep', 'leave everything running at the end, to look around', false)
  .addOption(new Option('--lab <folder>', 'play in a lab that runs already, which then stays').env('HOLDFAST_LAB_DIR'))
  .addHelpText(
    'after',
    `
Exit codes: 0 everything happened as told, 1 something did not, 130 left with Ctrl-C.`,
  )
  .exitOverride((end) => process.exit(end.exitCode === 0 ? 0 : 2))
  .action(async ({ keep, lab }) => {
    const code = await runDemo({ keep, labFolder: lab ?? null });
    // What an interrupted story still waited for must not hold the process.
    process.exit(code);
  })
  .parseAsync();
