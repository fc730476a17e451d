/** Caddy on a free port, which shows a server below a path of its own; from Debian, where it is installed. */

import {spawn} from 'node:child_process';
import {existsSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {freePort} from './real-server.ts';

const CADDY = process.env['CADDY'] ?? '/usr/bin/caddy';
const READY_MS = 30_000;
export const HAS_CADDY = existsSync(CADDY);

export interface Proxy {
  readonly address: string;
  end(): Promise<void>;
}

/**
 * @param server Address of the server behind it.
 * @param blocks What the site's block of a Caddyfile says, `{server}` standing for the server.
 */
export async function proxy(server: string, blocks: string): Promise<Proxy> {
  const port = await freePort();
  const place = mkdtempSync(join(tmpdir(), 'lutrin-caddy-'));
  const file = join(place, 'Caddyfile');
  writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n}\nhttp://:${port} {\n${blocks.replaceAll('{server}', server)}\n}\n`);
  const environment = {...process.env, HOME: place, XDG_DATA_HOME: place, XDG_CONFIG_HOME: place};
  const caddy = spawn(CADDY, ['run', '--config', file, '--adapter', 'caddyfile'], {env: environment, stdio: 'ignore'});
  const address = `http://127.0.0.1:${port}`;
  const until_ms = Date.now() + READY_MS;
  while (!(await fetch(address).then(() => true, () => false))) {
    if (Date.now() > until_ms) throw new Error('Caddy does not answer');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    address,
    end: async () => {
      if (caddy.exitCode !== null) return;
      const ended = new Promise((resolve) => caddy.once('exit', resolve));
      caddy.kill('SIGTERM');
      await ended;
      rmSync(place, {recursive: true, force: true});
    },
  };
}
