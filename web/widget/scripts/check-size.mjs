// The widget in all stays within its budget; prints the figure, exits 1 over it.
import {readFileSync} from 'node:fs';
import {gzipSync} from 'node:zlib';

const BUDGET_BYTES = 40_000;
const file = new URL('../../../src/lutrin/serve/static/widget/lutrin.js', import.meta.url);
const bytes = gzipSync(readFileSync(file), {level: 9}).length;
console.log(`lutrin.js: ${bytes} of ${BUDGET_BYTES} bytes, gzip`);
process.exit(bytes > BUDGET_BYTES ? 1 : 0);
