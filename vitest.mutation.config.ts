import { defineConfig } from 'vitest/config';

/** What mutants are held against: the tests of src/domain that are quick, since each mutant runs them again. */
export default defineConfig({
  test: {
    include: ['test/domain/**/*.test.ts', 'test/unit/approval/*.test.ts', 'test/unit/worker/config.test.ts'],
    setupFiles: ['test/domain/fixed-seed.ts'],
    exclude: ['test/domain/release/simulation.test.ts', 'test/domain/release/properties.test.ts'],
    pool: 'forks',
    isolate: false,
    testTimeout: 30_000,
  },
});
