import { defineConfig } from 'vitest/config';

const common = { pool: 'forks', testTimeout: 30_000 } as const;

/** Tests that need nothing but this process: decisions, parsers, workflow logic. */
export default defineConfig({
  test: {
    // One core would be left free, which on two is half of them.
    maxWorkers: '100%',
    projects: [
      // Decisions are pure, so that their files may share a process, which saves a third of the time.
      { test: { name: 'domain', include: ['test/domain/**/*.test.ts'], isolate: false, ...common } },
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], ...common } },
    ],
  },
});
