import { defineConfig } from 'vitest/config';

/** Tests against the real parts. A run starts one lab of its own; files run one after the other on it. */
export default defineConfig({
  test: {
    include: [
      'test/activities/**/*.test.ts',
      'test/e2e/**/*.test.ts',
      'test/chaos/**/*.test.ts',
      'test/replay/**/*.test.ts',
      'test/lab/**/*.test.ts',
    ],
    globalSetup: ['test/lab/global-setup.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 300_000,
  },
});
