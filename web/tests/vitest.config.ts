import {defineConfig} from 'vitest/config';

export default defineConfig({
  test: {
    include: process.env['SCREENSHOTS'] ? ['screenshots/*.test.ts'] : ['browser/*.test.ts', 'real/*.test.ts', 'site/*.test.ts'],
    environment: 'node',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // One Chromium at a time: two cores are shared with everything else.
    fileParallelism: false,
  },
});
