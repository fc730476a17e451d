import {defineConfig} from 'vitest/config';

/** Where the server finds the widget; tests of reproducibility build elsewhere. */
const outDir = '../../src/lutrin/serve/static/widget';

export default defineConfig({
  build: {
    outDir,
    emptyOutDir: true,
    target: 'es2022',
    // One classic script, so that a single tag without `type` is enough on any page.
    lib: {entry: 'src/index.ts', formats: ['iife'], name: 'lutrin', fileName: () => 'lutrin.js'},
    reportCompressedSize: false,
  },
  test: {include: ['tests/**/*.test.ts'], environment: 'node'},
});
