// The committed widget is what its sources build: builds it elsewhere and compares, exits 1 if they differ.
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
const committed = readFileSync(new URL('../../../src/lutrin/serve/static/widget/lutrin.js', import.meta.url));
const outDir = mkdtempSync(join(tmpdir(), 'lutrin-widget-'));
try {
  await build({root, logLevel: 'error', build: {outDir}});
  const same = committed.equals(readFileSync(join(outDir, 'lutrin.js')));
  console.log(same ? 'lutrin.js is what its sources build' : 'lutrin.js is stale: run `just web` and commit it');
  process.exitCode = same ? 0 : 1;
} finally {
  rmSync(outDir, {recursive: true});
}
