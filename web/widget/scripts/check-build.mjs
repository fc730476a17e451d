// The committed files are what their sources build: builds them elsewhere and compares, exits 1 if one differs.
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
const BUILT = {'lutrin.js': 'production', 'practice.js': 'practice', 'learning.js': 'learning', 'assignment.js': 'assignment'};
const outDir = mkdtempSync(join(tmpdir(), 'lutrin-widget-'));
try {
  for (const [name, mode] of Object.entries(BUILT)) {
    await build({root, mode, logLevel: 'error', build: {outDir}});
    for (const file of [name, `${name}.LICENSE.txt`]) {
      const committed = readFileSync(new URL(`../../../src/lutrin/serve/static/widget/${file}`, import.meta.url));
      const same = committed.equals(readFileSync(join(outDir, file)));
      console.log(same ? `${file} is what its sources build` : `${file} is stale: run \`just web\` and commit it`);
      if (!same) process.exitCode = 1;
    }
  }
} finally {
  rmSync(outDir, {recursive: true});
}
