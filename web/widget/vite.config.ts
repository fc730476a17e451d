import {defineConfig} from 'vitest/config';

/** Where the server finds the widget; tests of reproducibility build elsewhere. */
const outDir = '../../src/lutrin/serve/static/widget';

/** The minifier leaves what stands in templates alone; indentation and comments there are for who reads the source. */
const tightTemplates = {
  name: 'tight-templates',
  enforce: 'pre' as const,
  transform(code: string, id: string): string | undefined {
    if (/\/src\/styles\/\w+\.ts$/.test(id)) {
      const tight = (css: string): string => css.replace(/\/\*.*?\*\//gs, '').replace(/\s+/g, ' ').replace(/ ?([{};,]) ?|(:) /g, '$1$2');
      return code.replace(/css`([^`]*)`/g, (_, css: string) => `css\`${tight(css).trim()}\``);
    }
    return /\/src\/views\/\w+\.ts$/.test(id) ? code.replace(/\n\s+/g, '\n') : undefined;
  },
};

/** `--mode practice` builds the script of the pages of cards, which no other page loads. */
export default defineConfig(({mode}) => ({
  plugins: [tightTemplates],
  build: {
    outDir,
    emptyOutDir: mode !== 'practice',
    target: 'es2022',
    // One classic script, so that a single tag without `type` is enough on any page.
    lib:
      mode === 'practice'
        ? {entry: 'src/practice/index.ts', formats: ['iife'], name: 'practice', fileName: () => 'practice.js'}
        : {entry: 'src/index.ts', formats: ['iife'], name: 'lutrin', fileName: () => 'lutrin.js'},
    reportCompressedSize: false,
  },
  test: {include: ['tests/**/*.test.ts'], environment: 'node'},
}));
