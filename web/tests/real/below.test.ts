/** Below a path of another site, behind Caddy that strips the path or keeps it: reading, asking, practising, no network. */

import {fileURLToPath} from 'node:url';
import type {Browser} from 'playwright-core';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {launch, Reader} from '../support/browser.ts';
import {eventually} from '../support/harness.ts';
import {HAS_CADDY, proxy, type Proxy} from '../support/proxy.ts';
import {RealServer} from '../support/real-server.ts';

const PATIENCE_MS = 15_000;
const WAYS = {
  'strips the path': '\thandle_path /school/books/* {\n\t\treverse_proxy {server} {\n\t\t\theader_up X-Forwarded-Prefix /school/books\n\t\t}\n\t}',
  'keeps the path': '\thandle /lutrin* {\n\t\treverse_proxy {server}\n\t}',
};
let browser: Browser;
let lutrin: RealServer;

describe.skipIf(!HAS_CADDY)('behind a proxy that', () => {
  beforeAll(async () => {
    const corpus = fileURLToPath(new URL('../fixtures', import.meta.url));
    lutrin = await RealServer.start({corpus, model: 'none', token: 'a-token-for-the-tests', variables: {LUTRIN_ROOT_PATH: '/lutrin', LUTRIN_TRUSTED_PROXIES: '127.0.0.1'}});
    browser = await launch();
  }, 240_000);

  afterAll(async () => {
    await browser.close();
    await lutrin.remove();
  });

  describe.each([
    ['strips the path', '/school/books'],
    ['keeps the path', '/lutrin'],
  ] as const)('%s', (way, path) => {
    let front: Proxy;
    let reader: Reader;
    const failures: string[] = [];

    beforeAll(async () => {
      front = await proxy(lutrin.address, WAYS[way]);
      reader = await Reader.at(browser, front.address, `${path}/`);
      reader.page.on('response', (response) => response.status() >= 400 && failures.push(`${response.status()} ${response.url()}`));
      await reader.page.reload();
    }, 60_000);

    afterAll(async () => {
      await reader.close();
      await front.end();
    });

    test('the shelf leads to a book, its pages and its cards', async () => {
      await reader.page.locator('.card a').first().click();
      await reader.page.getByRole('link', {name: 'Topics', exact: false}).first().click();
      await reader.page.getByRole('heading', {name: 'Topics', level: 1}).waitFor();
      expect(new URL(reader.page.url()).pathname).toBe(`${path}/read/lab/01-basics/02-topics`);
      await reader.page.goto(`${front.address}${path}/study/lab/deck?chapter=1`);
      await reader.page.getByRole('button', {name: 'Practise these cards'}).click();
      await reader.page.locator('.flash summary:visible').click();
    });

    test('what is typed in the box finds a place, and following it lands there', async () => {
      await reader.page.goto(`${front.address}${path}/`);
      await reader.page.keyboard.press('Control+k');
      await reader.page.getByRole('combobox').fill('charging');
      await reader.page.locator('.found a').first().click();
      await reader.page.waitForURL(`${front.address}${path}/read/lab/**`);
    });

    test('a question is answered on a stream, and its citation lands on the page', async () => {
      await reader.page.goto(`${front.address}${path}/read/lab/01-basics/02-topics`);
      await reader.open();
      await reader.ask('What is a node?');
      await reader.widget.locator('.from-book .place').first().click();
      await eventually(() => new URL(reader.page.url()).pathname, `${path}/read/lab/01-basics/01-nodes`, PATIENCE_MS);
      await reader.page.reload();
      await eventually(() => reader.questions.count(), 1, PATIENCE_MS);
    });

    test('a teacher signs in, and the address for pupils has the path', async () => {
      await reader.page.goto(`${front.address}${path}/teacher`);
      await reader.page.getByLabel('Password').fill('a-token-for-the-tests');
      await reader.page.getByRole('button', {name: 'Sign in'}).click();
      await reader.page.getByRole('button', {name: 'Sign out'}).waitFor();
      expect(new URL(reader.page.url()).pathname).toBe(`${path}/teacher`);
    });

    test('nothing was asked for that is not there', () => {
      expect(failures).toEqual([]);
      expect(reader.violations).toEqual([]);
    });

    test('the worker keeps pages of this path alone, and shows them without the proxy', async () => {
      const scope = await reader.page.evaluate(async () => (await navigator.serviceWorker.ready).scope);
      expect(scope).toBe(`${front.address}${path}/`);
      const nodes = `${front.address}${path}/read/lab/01-basics/01-nodes`;
      await eventually(() => reader.page.evaluate(async (address) => (await caches.match(address, {ignoreVary: true})) !== undefined, nodes), true, PATIENCE_MS);
      await front.end();
      await reader.page.goto(nodes);
      expect(await reader.page.locator('main article').first().innerText()).toContain('process that does one job');
      await reader.page.goto(`${front.address}${path}/read/lab/never-opened`);
      await reader.page.getByRole('heading', {name: 'No network'}).waitFor();
      await reader.page.getByRole('link', {name: /^Nodes/}).waitFor();
    });
  });
});
