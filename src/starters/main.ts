import { survivePipes } from './output/pipes.ts';
import { runHoldfast } from './run-holdfast.ts';

survivePipes();
await runHoldfast(process.argv.slice(2));
