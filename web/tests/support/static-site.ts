/** A built Docusaurus site as a plain web server shows it: `/docs/x` is `docs/x.html`. */

import {readFile} from 'node:fs/promises';
import {createServer, type Server} from 'node:http';
import type {AddressInfo} from 'node:net';
import {extname, join, normalize} from 'node:path';

const TYPES: Record<string, string> = {'.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml'};

export async function serveFolder(folder: string): Promise<{server: Server; base: string}> {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? '/', 'http://site').pathname));
    const inside = path === '/' ? 'index.html' : path.slice(1);
    void firstOf([inside, `${inside}.html`, join(inside, 'index.html')].map((name) => join(folder, name))).then((found) => {
      response.writeHead(found ? 200 : 404, {'Content-Type': TYPES[extname(found?.name ?? '')] ?? 'application/octet-stream'});
      response.end(found?.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {server, base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`};
}

async function firstOf(names: string[]): Promise<{name: string; body: Buffer} | undefined> {
  for (const name of names) {
    try {
      return {name, body: await readFile(name)};
    } catch {
      // Not this one: the next form of the name is tried.
    }
  }
  return undefined;
}
