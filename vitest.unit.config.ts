import { defineConfig } from 'vitest/config';

const common = { pool: 'forks', testTimeout: 30_000 } as const;

/** Tests that need nothing but this process: decisions, parsers, workflow logic. */
export default defineConfig({
  test: {
    // Many of these wait for a time-out, and leave their core to another.
    maxWorkers: '150%',
    projects: [
      // Decisions are pure, so that their files may share a process, which saves a third of the time.
      { test: { name: 'domain', include: ['test/domain/**/*.test.ts'], isolate: false, ...common } },
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], ...common } },
    ],
  },
});
