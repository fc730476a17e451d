/** Beside the journeys of a class that learns (`class.test.ts`): its tools, one by one. */

import {cpSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import type {Browser, BrowserContextOptions} from 'playwright-core';
import {afterAll, afterEach, beforeAll, expect, test} from 'vitest';
import {axeFindings} from '../support/axe.ts';
import {launch, Reader} from '../support/browser.ts';
import {closed} from '../support/harness.ts';
import {RealServer} from '../support/real-server.ts';
import {told, withVoices} from '../support/voices.ts';

const NODES = '/read/lab/01-basics/01-nodes';
const WATCHDOGS = '/read/lab/01-basics/05-watchdogs';
const PAGE = '# Watchdogs\n\n## What a watchdog does\n\nA **watchdog** stops the motors as soon as commands stay away.\n';
const PHONE: BrowserContextOptions = {viewport: {width: 390, height: 760}, hasTouch: true, isMobile: true};
const SHOTS = process.env['SHOTS'];
const corpus = mkdtempSync(join(tmpdir(), 'lutrin-learning-'));
const readers: Reader[] = [];
let browser: Browser;
let lutrin: RealServer;

beforeAll(async () => {
  cpSync(fileURLToPath(new URL('../fixtures', import.meta.url)), corpus, {recursive: true});
  writeFileSync(join(corpus, 'lab/01-basics/05-watchdogs.md'), PAGE);
  lutrin = await RealServer.start({corpus, model: 'none'});
  browser = await launch();
}, 240_000);

afterEach(() => closed(readers));
afterAll(async () => {
  await browser.close();
  await lutrin.remove();
  rmSync(corpus, {recursive: true});
});

async function visit(path: string, options: BrowserContextOptions = {}): Promise<Reader> {
  const reader = await Reader.at(browser, lutrin.address, path, options);
  readers.push(reader);
  return reader;
}

async function picture(reader: Reader, name: string): Promise<void> {
  if (!SHOTS) return;
  await reader.page.waitForTimeout(400);
  await reader.page.screenshot({path: `${SHOTS}/${name}.png`});
}

test('quiz me opens the cards of the page, and on a phone the sheet makes way for them', async () => {
  const reader = await visit(WATCHDOGS);
  await picture(reader, 'page-tools');
  await reader.page.getByRole('link', {name: 'Quiz me'}).click();
  await reader.page.getByRole('heading', {name: 'Watchdogs', level: 1}).waitFor();
  await reader.page.getByText('The cards of this page.').waitFor();
  await picture(reader, 'quiz-page');
  const phone = await visit(NODES, PHONE);
  await phone.open();
  await phone.ask('What is a node?');
  await phone.widget.getByRole('link', {name: 'Quiz me'}).tap();
  await phone.page.waitForURL('**/study/lab/deck?page=*');
  await phone.page.getByText('The cards of this page.').waitFor();
  expect(await phone.panel.isVisible()).toBe(false);
  await phone.page.goBack();
  await phone.panel.waitFor();
}, 60_000);

test('Back closes the sheet of a phone before it leaves the page, and closing it leaves no step behind', async () => {
  const reader = await visit('/', PHONE);
  const {page} = reader;
  await page.goto(lutrin.address + NODES);
  await reader.open();
  await page.goBack();
  await reader.panel.waitFor({state: 'hidden'});
  expect(new URL(page.url()).pathname).toBe(NODES);
  await reader.open();
  await reader.button('Close').tap();
  await reader.panel.waitFor({state: 'hidden'});
  await page.waitForTimeout(300);
  await page.goBack();
  await page.waitForURL(`${lutrin.address}/`);
}, 60_000);

test('a server that is away is said in the words of a pupil, and the question is kept', async () => {
  const reader = await visit(NODES);
  await reader.open();
  await reader.context.setOffline(true);
  await reader.ask('What is a node?');
  expect(await reader.answers.getByRole('alert').innerText()).toBe('The school computer does not answer. Your question is kept.');
  expect(await reader.input.inputValue()).toBe('What is a node?');
  await reader.context.setOffline(false);
  await reader.button('Try again').click();
  await reader.answers.getByText('process that does one job').first().waitFor();
}, 60_000);

test('a voice that would send the text elsewhere reads nothing', async () => {
  const reader = await visit(NODES);
  await withVoices(reader, [{lang: 'en-US', localService: false}]);
  await reader.page.getByRole('button', {name: 'Read aloud'}).click();
  await reader.page.getByText('This device has no voice of its own for this language.').waitFor();
  expect(await told(reader)).toEqual([]);
}, 60_000);

test('a bookmark is kept by this browser, stands on the cover of the book, and goes again', async () => {
  const reader = await visit(NODES);
  await reader.page.getByRole('button', {name: 'Bookmark', exact: true}).click();
  await reader.page.getByRole('button', {name: 'Bookmarked'}).waitFor();
  await reader.page.goto(`${lutrin.address}/read/lab`);
  const bookmarks = reader.page.getByRole('region', {name: 'Bookmarks'});
  expect(await bookmarks.getByRole('link').innerText()).toBe('Nodes');
  await picture(reader, 'bookmarks');
  expect(await axeFindings(reader, 'main')).toEqual([]);
  await bookmarks.getByRole('link').click();
  await reader.page.getByRole('button', {name: 'Bookmarked'}).click();
  await reader.page.goto(`${lutrin.address}/read/lab`);
  expect(await bookmarks.count()).toBe(0);
}, 60_000);

test('one answer is shared or printed alone, with its sources', async () => {
  const reader = await visit(NODES);
  const {page} = reader;
  await reader.open();
  await reader.ask('What is a node?');
  await page.evaluate(() => {
    Object.defineProperty(navigator, 'share', {value: ({text}: {text: string}) => Promise.resolve(void Object.assign(window, {shared: text}))});
    Object.assign(window, {print: () => undefined});
  });
  await reader.button('Share').click();
  const shared = await page.evaluate(() => (window as unknown as {shared: string}).shared);
  expect(shared).toContain('What is a node?\n\n');
  expect(shared).toContain('process that does one job');
  expect(shared).toContain(`(${lutrin.address}${NODES}#what-a-node-is)`);
  await reader.button('Print').click();
  await page.emulateMedia({media: 'print'});
  expect(await page.locator('main').isVisible()).toBe(false);
  expect(await page.locator('.one-answer').innerText()).toContain('process that does one job');
  expect(await page.locator('.one-answer').innerText()).toContain(`${NODES}#what-a-node-is`);
  await picture(reader, 'print-answer');
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  await page.emulateMedia({media: 'screen'});
  expect(await page.locator('main').isVisible()).toBe(true);
}, 60_000);
