/** The sample site with the Docusaurus plugin, as `just site` has built it, in a real browser. */

import {spawnSync} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import type {Server} from 'node:http';
import {fileURLToPath} from 'node:url';
import type {Browser, BrowserContextOptions} from 'playwright-core';
import {afterAll, afterEach, beforeAll, beforeEach, expect, test} from 'vitest';
import {brokenCitations, readCitations} from '../../docusaurus-plugin-lutrin/src/check.ts';
import {launch, Reader} from '../support/browser.ts';
import {closed, eventually} from '../support/harness.ts';
import {citation, done, ScriptedServer} from '../support/scripted-server.ts';
import {serveFolder} from '../support/static-site.ts';

const SITE = fileURLToPath(new URL('../../site/', import.meta.url));
const PLUGIN = `${SITE}.docusaurus/docusaurus-plugin-lutrin/default/`;
const lutrin = new ScriptedServer();
let browser: Browser;
let web: Server;
let base = '';
let api = '';
let scripted = '';
let pages: Record<string, string> = {};
const readers: Reader[] = [];
const PHONE: BrowserContextOptions = {viewport: {width: 390, height: 800}, hasTouch: true, isMobile: true};

beforeAll(async () => {
  if (!existsSync(`${SITE}build/index.html`)) throw new Error('The sample site is not built; run `just site` first.');
  api = (JSON.parse(readFileSync(`${PLUGIN}settings.json`, 'utf8')) as {api: string}).api;
  pages = JSON.parse(readFileSync(`${PLUGIN}pages.json`, 'utf8')) as Record<string, string>;
  ({server: web, base} = await serveFolder(`${SITE}build`));
  scripted = await lutrin.listen();
  browser = await launch();
});
afterAll(async () => {
  await browser.close();
  await lutrin.close();
  web.closeAllConnections();
  web.close();
});
beforeEach(() => lutrin.reset());
afterEach(() => closed(readers));

/** A reader of the site; what the built pages ask of their server, the scripted one answers. */
async function visit(path: string, options: BrowserContextOptions = {}): Promise<Reader> {
  const reader = await Reader.at(browser, base, '/img/favicon.svg', options, new URL(api).origin);
  readers.push(reader);
  await reader.context.route(`${api}/**`, async (route) => {
    const headers = {'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': '*', 'Access-Control-Expose-Headers': '*'};
    if (route.request().method() === 'OPTIONS') return route.fulfill({status: 204, headers});
    const response = await route.fetch({url: route.request().url().replace(new URL(api).origin, scripted)});
    return route.fulfill({response, headers: {...response.headers(), ...headers}});
  });
  await reader.page.goto(base + path);
  return reader;
}

/** A page of the book, its file, and the beginning of a paragraph that stands behind one of its headings. */
async function passage(reader: Reader): Promise<{filename: string; anchor: string; quote: string}> {
  const [filename = '', permalink = ''] = Object.entries(pages).find(([name]) => /\/01-(?!.*\/01-)[^/]*$/.test(name) && !/index/.test(name)) ?? [];
  await reader.page.goto(base + permalink);
  const found = await reader.page.evaluate(() => {
    const heading = document.querySelector('article h2[id]');
    return {anchor: heading?.id ?? '', quote: heading?.nextElementSibling?.textContent?.slice(0, 90) ?? ''};
  });
  return {filename, ...found};
}

test('the site, its settings and its use of the plugin have no TypeScript error', () => {
  const {status, stdout} = spawnSync('npx', ['tsc'], {cwd: SITE, encoding: 'utf8'});
  expect(stdout).toBe('');
  expect(status).toBe(0);
}, 180_000);

test('every citation of the index leads to a heading of the built site', async () => {
  const cited = await readCitations('citations.json', SITE);
  expect(cited.length).toBeGreaterThan(100);
  expect(await brokenCitations(cited, pages, `${SITE}build`, '/')).toEqual([]);
});

test('the button is there on the landing page, on a chapter and on a page of the book, in the same corner', async () => {
  const reader = await visit('/');
  const permalinks = Object.values(pages).sort((one, other) => one.split('/').length - other.split('/').length);
  for (const path of ['/', permalinks[0] ?? '', permalinks.at(-1) ?? '']) {
    await reader.page.goto(base + path);
    await reader.bubble.waitFor();
    await reader.page.mouse.wheel(0, 900);
    const place = await reader.bubble.evaluate((button) => {
      const {right, bottom} = button.getBoundingClientRect();
      return [document.documentElement.clientWidth - right, innerHeight - bottom];
    });
    expect(place).toEqual([24, 24]);
  }
});

test('navigation keeps the element, the conversation and the open panel', async () => {
  const reader = await visit('/');
  lutrin.script = () => [done('A node does one job.')];
  await reader.open();
  await reader.ask('What is a node?');
  await reader.widget.evaluate((chat) => Object.assign(chat, {same: true}));
  await reader.page.locator('nav.navbar a[href*="/docs/"]').first().click();
  await reader.page.waitForURL('**/docs/**');
  await reader.page.locator('main article').waitFor();
  expect(await reader.widget.count()).toBe(1);
  expect(await reader.widget.evaluate((chat) => 'same' in chat)).toBe(true);
  expect(await reader.answers.innerText()).toContain('A node does one job.');
});

test('a citation leads to the page of this site, without loading it anew, and the passage is marked', async () => {
  const reader = await visit('/');
  const {filename, anchor, quote} = await passage(reader);
  const permalink = pages[filename] ?? '';
  lutrin.script = () => [done('So it is. [1]', {sources: [citation(1, {filename, quote, url: `/read/book/${filename}#${anchor}`})]})];
  await reader.page.goto(`${base}/`);
  await reader.open();
  await reader.ask('What is it?');
  await eventually(() => reader.widget.locator('.cite').getAttribute('href'), `${base}${permalink}#${anchor}`);
  await reader.page.evaluate(() => Object.assign(window, {notReloaded: true}));
  await reader.widget.locator('.cite').click();
  await reader.page.waitForURL(`${base}${permalink}#${anchor}`);
  const marked = (): Promise<string> =>
    reader.page.evaluate(() => [...(CSS.highlights.get('lutrin-passage') ?? [])].map((range) => range.toString()).join());
  await expect.poll(async () => (await marked()).slice(0, 20), {timeout: 5000}).toBe(quote.slice(0, 20));
  expect(await reader.page.evaluate(() => 'notReloaded' in window)).toBe(true);
  expect(await reader.panel.isVisible()).toBe(true);
  await reader.page.goBack();
  await reader.page.waitForURL(`${base}/`);
});

test('from page to page by the sidebar the button stays, on a phone as on a desk', async () => {
  for (const options of [{}, PHONE]) {
    const reader = await visit('/', options);
    await reader.page.goto(base + (Object.values(pages).at(-1) ?? ''));
    await reader.bubble.waitFor();
    await reader.page.evaluate(() => Object.assign(window, {notReloaded: true}));
    if (options === PHONE) await reader.page.getByRole('button', {name: 'Toggle navigation bar'}).click();
    const link = reader.page.locator('.menu__link:not(.menu__link--sublist):not(.menu__link--active):visible').first();
    const to = await link.getAttribute('href');
    await link.click();
    await reader.page.waitForURL(`${base}${to}`);
    await reader.bubble.waitFor();
    expect(await reader.widget.count()).toBe(1);
    expect(await reader.page.evaluate(() => 'notReloaded' in window)).toBe(true);
  }
});

test('on a phone the panel is a sheet over the page, nothing scrolls sideways, and a citation lands on its marked passage', async () => {
  const reader = await visit('/', PHONE);
  const {filename, anchor, quote} = await passage(reader);
  const permalink = pages[filename] ?? '';
  lutrin.script = () => [done('So it is. [1]', {sources: [citation(1, {filename, quote, url: `/read/book/${filename}#${anchor}`})]})];
  await reader.page.goto(`${base}/`);
  const sideways = (): Promise<number> => reader.page.evaluate(() => document.documentElement.scrollWidth);
  expect(await sideways()).toBe(390);
  await reader.bubble.tap();
  await reader.panel.waitFor();
  await eventually(() => reader.panel.boundingBox(), {x: 0, y: 32, width: 390, height: 768});
  await reader.ask('What is it?');
  await reader.widget.locator('.cite').tap();
  await reader.preview.getByRole('link').tap();
  await reader.page.waitForURL(`${base}${permalink}#${anchor}`);
  await eventually(() => reader.page.evaluate(() => CSS.highlights.has('lutrin-passage')), true);
  await eventually(() => reader.panel.isVisible(), false);
  expect(await sideways()).toBe(390);
});

test('on a wide screen the page makes room for the panel, so that no line is hidden behind it', async () => {
  const reader = await visit('/');
  const {filename} = await passage(reader);
  await reader.page.goto(base + (pages[filename] ?? ''));
  await reader.open();
  await eventually(async () => {
    const [panel, text] = await Promise.all([reader.panel.boundingBox(), reader.page.locator('main article').boundingBox()]);
    return panel !== null && text !== null && text.x + text.width <= panel.x;
  }, true);
});

test('the widget follows the site’s switch between light and dark', async () => {
  const reader = await visit('/', {colorScheme: 'light'});
  const colour = (): Promise<string> => reader.bubble.evaluate((button) => getComputedStyle(button).backgroundColor);
  const light = await colour();
  await reader.page.evaluate(() => document.documentElement.setAttribute('data-theme', 'dark'));
  await expect.poll(colour).not.toBe(light);
});
