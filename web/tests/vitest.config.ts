import {defineConfig} from 'vitest/config';

export default defineConfig({
  test: {
    include: process.env['SCREENSHOTS'] ? ['screenshots/*.test.ts'] : ['browser/*.test.ts', 'real/*.test.ts', 'site/*.test.ts'],
    environment: 'node',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A browser waits as often as it draws: two cores carry two suites at once. Pictures are taken one by one.
    maxWorkers: process.env['SCREENSHOTS'] ? 1 : 2,
  },
});
