import { defineConfig } from 'vitest/config';

/** Tests that need nothing but this process: decisions, parsers, workflow logic. */
export default defineConfig({
  test: {
    include: ['test/domain/**/*.test.ts', 'test/unit/**/*.test.ts'],
    pool: 'forks',
    testTimeout: 30_000,
  },
});
