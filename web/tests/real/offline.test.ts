/** Pages and cards that were opened once, without a network: what is kept, what never is, and how it follows the book. */

import {cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import type {Browser} from 'playwright-core';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {launch, Reader} from '../support/browser.ts';
import {eventually} from '../support/harness.ts';
import {RealServer} from '../support/real-server.ts';

const NODES = '/read/lab/01-basics/01-nodes';
const TOPICS = '/read/lab/01-basics/02-topics';
const DECK = '/study/lab/deck?chapter=1';
const PATIENCE_MS = 15_000;
const corpus = mkdtempSync(join(tmpdir(), 'lutrin-offline-'));
let browser: Browser;
let lutrin: RealServer;
let reader: Reader;

beforeAll(async () => {
  cpSync(fileURLToPath(new URL('../fixtures', import.meta.url)), corpus, {recursive: true});
  lutrin = await RealServer.start({corpus, model: 'none'});
  browser = await launch();
  reader = await Reader.at(browser, lutrin.address, NODES);
  reader.page.setDefaultTimeout(PATIENCE_MS);
}, 240_000);

afterAll(async () => {
  await browser.close();
  await lutrin.remove();
  rmSync(corpus, {recursive: true});
});

/** Paths of all that this browser keeps. */
function kept(): Promise<string[]> {
  return reader.page.evaluate(async () => {
    const all: string[] = [];
    for (const name of await caches.keys()) {
      for (const {url} of await (await caches.open(name)).keys()) all.push(url.slice(location.origin.length));
    }
    return all;
  });
}

async function isKept(path: string): Promise<void> {
  await eventually(async () => (await kept()).includes(path), true, PATIENCE_MS);
}

test('what was opened can be read and practised without the server, and looks as it did', async () => {
  await isKept(NODES);
  await reader.open();
  await reader.ask('What is a node?');
  await reader.page.keyboard.press('Escape');
  await reader.page.goto(lutrin.address + DECK);
  await isKept(DECK);
  await eventually(async () => (await kept()).filter((path) => path.startsWith('/widget/practice')).length, 1, PATIENCE_MS);
  await lutrin.down();
  await reader.page.goto(lutrin.address + NODES);
  expect(await reader.page.locator('article').innerText()).toContain('process that does one job');
  expect(await reader.page.locator('.aside').evaluate((aside) => getComputedStyle(aside).position)).toBe('sticky');
  await reader.page.goto(lutrin.address + DECK);
  await reader.page.getByRole('button', {name: 'Practise these cards'}).click();
  await reader.page.locator('.flash summary:visible').click();
  await reader.page.getByRole('button', {name: /^Good/}).click();
}, 90_000);

test('a book that is kept whole can be read without the server, also where it was never opened, until it is let go', async () => {
  await lutrin.up(); // the test before took it away
  const own = await Reader.at(browser, lutrin.address, '/read/lab');
  await own.page.getByRole('button', {name: 'Keep this book offline'}).click();
  await own.page.getByText('The whole book is here, also without a network.').waitFor();
  await lutrin.down();
  await own.page.goto(lutrin.address + TOPICS);
  await own.page.getByRole('heading', {name: 'Topics'}).waitFor();
  expect(await own.page.locator('.aside').evaluate((aside) => getComputedStyle(aside).position)).toBe('sticky');
  await own.page.goto(`${lutrin.address}/study/lab/today`);
  await own.page.getByText('Nothing is due.').waitFor();
  await lutrin.up();
  await own.page.goto(`${lutrin.address}/read/lab`);
  await own.page.getByRole('button', {name: 'Remove it from this device'}).click();
  await own.page.getByRole('button', {name: 'Keep this book offline'}).waitFor();
  expect(await own.page.evaluate(() => caches.has('lutrin-book-lab'))).toBe(false);
  await own.close();
  await lutrin.down(); // as the next one finds it
}, 120_000);

test('a page that was never opened says so and leads back; nothing of the conversation is kept', async () => {
  await reader.page.goto(lutrin.address + TOPICS);
  await reader.page.getByRole('heading', {name: 'No network'}).waitFor();
  await reader.page.getByRole('link', {name: 'Nodes · The Lab Book'}).waitFor();
  expect(await reader.page.locator('.kept a').evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).pathname))).toEqual(['/study/lab/deck', NODES]);
  const paths = await kept();
  expect(paths.filter((path) => !/^\/($|offline$|read\/|study\/|static\/|widget\/|picture\/)/.test(path))).toEqual([]);
  await lutrin.up();
  await reader.page.getByRole('link', {name: 'Try again'}).click();
  await reader.page.getByRole('heading', {name: 'Topics'}).waitFor();
}, 120_000);

test('once the book was read anew, what is kept is the new text', async () => {
  const path = join(corpus, 'lab/01-basics/01-nodes.md');
  writeFileSync(path, readFileSync(path, 'utf8').replace('process that does one job', 'program with a single task'));
  await lutrin.ingest(corpus);
  await eventually(async () => (await (await fetch(lutrin.address + NODES)).text()).includes('program with a single task'), true, PATIENCE_MS);
  // Any page tells the browser that there is a new worker.
  await reader.page.goto(lutrin.address + TOPICS);
  await eventually(() => reader.page.evaluate(async (page) => (await (await caches.match(page, {ignoreVary: true}))?.text())?.includes('program with a single task') ?? false, NODES), true, PATIENCE_MS);
  await eventually(() => reader.page.evaluate(async () => (await caches.keys()).length), 1, PATIENCE_MS);
}, 120_000);

test('what is kept has a bound: the pages opened last', async () => {
  await reader.page.evaluate(async (page) => {
    for (let n = 0; n < 70; n += 1) await (await fetch(`${page}?n=${n}`)).text();
  }, TOPICS);
  await eventually(async () => (await kept()).filter((path) => path.startsWith('/read/') || path === '/' || path.startsWith('/study/')).length, 60, PATIENCE_MS);
  expect(await kept()).toContain(`${TOPICS}?n=69`);
  expect({violations: reader.violations, foreign: reader.foreign}).toEqual({violations: [], foreign: []});
}, 90_000);
