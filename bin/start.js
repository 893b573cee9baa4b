// Only reached on a Node that is new enough: bin/holdfast.js has looked.
import { existsSync } from 'node:fs';

// A checkout runs its sources, never a build that may be older than they are; a package has only the build.
const source = new URL('../src/starters/main.ts', import.meta.url);
await import(existsSync(source) ? source.href : new URL('../dist/starters/main.js', import.meta.url).href);
