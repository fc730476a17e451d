import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {defineConfig} from 'vitest/config';

/** Where the server finds the widget; tests of reproducibility build elsewhere. */
const outDir = '../../src/lutrin/serve/static/widget';

/** The minifier leaves what stands in templates alone; indentation and comments there are for who reads the source. */
const tightTemplates = {
  name: 'tight-templates',
  enforce: 'pre' as const,
  transform(code: string, id: string): string | undefined {
    if (/\/src\/styles\/\w+\.ts$/.test(id)) {
      const tight = (css: string): string => css.replace(/\/\*.*?\*\//gs, '').replace(/\s+/g, ' ').replace(/ ?([{};,]) ?|(:) /g, '$1$2').replace(/;}/g, '}');
      return code.replace(/css`([^`]*)`/g, (_, css: string) => `css\`${tight(css).trim()}\``);
    }
    return /\/src\/views\/\w+\.ts$/.test(id) ? code.replace(/\n\s+/g, '\n') : undefined;
  },
};

/** What the licence of a package asks for: its name, version and text, from the folder that npm put it in. */
function licenceOf(folder: string): string {
  const {name, version, license} = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, string>;
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} brings no text of its licence, ${license}: it cannot go into a script that others receive`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}

/** Each script names its licence and the file beside it that has the licences of every package inside. */
const licences = {
  name: 'licences',
  enforce: 'post' as const,
  generateBundle(this: {emitFile(file: {type: 'asset'; fileName: string; source: string}): void}, _: unknown, bundle: object): void {
    for (const chunk of Object.values(bundle) as {type: string; fileName: string; moduleIds: string[]; code: string}[]) {
      if (chunk.type !== 'chunk') continue;
      const folders = chunk.moduleIds.map((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? '').filter(Boolean);
      const texts = [...new Set(folders)].sort().map(licenceOf);
      const fileName = `${chunk.fileName}.LICENSE.txt`;
      chunk.code = `/*! Lutrin, Apache-2.0. Licences of what this file contains: ${fileName} */\n${chunk.code}`;
      const head = `${chunk.fileName} is part of Lutrin, Apache-2.0. It contains these packages:\n\n`;
      this.emitFile({type: 'asset', fileName, source: head + texts.join(`\n${'-'.repeat(80)}\n\n`)});
    }
  },
};

/** Scripts that only the reader's own pages load, each by its mode: cards, what helps to learn from answers, and assignments. */
const OWN = new Set(['practice', 'learning', 'assignment']);

export default defineConfig(({mode}) => ({
  plugins: [tightTemplates, licences],
  build: {
    outDir,
    emptyOutDir: !OWN.has(mode),
    target: 'es2022',
    // One classic script, so that a single tag without `type` is enough on any page.
    lib: OWN.has(mode)
      ? {entry: `src/${mode}/index.ts`, formats: ['iife'], name: mode, fileName: () => `${mode}.js`}
      : {entry: 'src/index.ts', formats: ['iife'], name: 'lutrin', fileName: () => 'lutrin.js'},
    reportCompressedSize: false,
  },
  test: {include: ['tests/**/*.test.ts'], environment: 'node'},
}));
