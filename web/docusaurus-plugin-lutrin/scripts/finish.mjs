// What tsc does not build: the style sheet, and the widget as Lutrin's own server has it.
import {copyFileSync} from 'node:fs';

const here = (name) => new URL(name, import.meta.url);
copyFileSync(here('../src/client/style.css'), here('../dist/client/style.css'));
for (const name of ['lutrin.js', 'lutrin.js.LICENSE.txt']) {
  copyFileSync(here(`../../../src/lutrin/serve/static/widget/${name}`), here(`../dist/client/${name}`));
}
