/** The teacher's page on Lutrin itself: signing in, reading the books again, going back, the doctor; on a desk and a phone. */

import {cpSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import type {Browser, BrowserContextOptions, Locator, Page} from 'playwright-core';
import {afterAll, afterEach, beforeAll, expect, test, vi} from 'vitest';
import {axeFindings} from '../support/axe.ts';
import {launch, Reader} from '../support/browser.ts';
import {closed, eventually} from '../support/harness.ts';
import {RealServer} from '../support/real-server.ts';

const PASSWORD = 'a-long-password-for-a-test';
const PHONE: BrowserContextOptions = {viewport: {width: 390, height: 800}, hasTouch: true, isMobile: true};
// A process of its own looks at everything, on a machine that may be busy.
vi.setConfig({testTimeout: 240_000});
const corpus = mkdtempSync(join(tmpdir(), 'lutrin-teacher-'));
let server: RealServer;
let browser: Browser;
const readers: Reader[] = [];

beforeAll(async () => {
  cpSync(fileURLToPath(new URL('../fixtures', import.meta.url)), corpus, {recursive: true});
  process.env['LUTRIN_CORPUS_DIR'] = corpus;
  [server, browser] = await Promise.all([RealServer.start({corpus, token: PASSWORD}), launch()]);
}, 240_000);
afterEach(() => closed(readers));
afterAll(async () => {
  await browser.close();
  await server.remove();
  rmSync(corpus, {recursive: true});
});

/** A teacher at the form. */
async function visit(options: BrowserContextOptions = {}): Promise<Page> {
  const reader = await Reader.at(browser, server.address, '/teacher', options);
  readers.push(reader);
  return reader.page;
}

/** What a browser keeps of the first sign-in; the server allows few a minute. */
let kept: BrowserContextOptions['storageState'];

/** A teacher who has signed in. */
async function signedIn(options: BrowserContextOptions = {}): Promise<Page> {
  if (kept !== undefined) return visit({...options, storageState: kept});
  const page = await visit(options);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', {name: 'Sign in'}).click();
  await page.getByRole('button', {name: 'Sign out'}).waitFor();
  kept = await page.context().storageState();
  return page;
}

/** Everything that axe finds. */
const findings = (page: Page): Promise<string[]> => axeFindings({page});

const section = (page: Page, name: string): Locator => page.getByRole('region', {name, exact: true});

/** Press a button by keyboard. */
const press = (page: Page, name: string): Promise<void> => page.getByRole('button', {name}).press('Enter');

test('a wrong password is told, the right one opens the page and stands in no address, cookie, storage or page', async () => {
  const page = await visit();
  await page.getByLabel('Password').fill('wrong');
  await page.getByRole('button', {name: 'Sign in'}).click();
  await page.getByRole('alert').getByText('not the password').waitFor();
  await page.getByLabel('Password').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await section(page, 'Your books').getByText('The Lab Book').waitFor();
  const seen = await page.evaluate(() => [location.href, document.cookie, JSON.stringify({...localStorage, ...sessionStorage}), document.documentElement.outerHTML].join('\n'));
  expect(seen).not.toContain(PASSWORD);
  expect(await page.evaluate(() => document.cookie)).toBe('');
  await page.getByRole('button', {name: 'Sign out'}).click();
  await page.getByRole('button', {name: 'Sign in'}).waitFor();
});

test('a new page is read while the page watches; the book can go back to the index before', async () => {
  const page = await signedIn();
  const books = section(page, 'Your books');
  await books.getByText('4 pages').first().waitFor();
  writeFileSync(join(corpus, 'lab/01-basics/05-cables.md'), '# Cables\n\nA cable carries power and data to one motor.\n');
  await books.getByText(/^Files that lie/).click();
  await page.getByRole('button', {name: 'Read the books again'}).click();
  await books.getByText('The books have been read.').waitFor({timeout: 110_000});
  await books.getByText('5 pages').waitFor();
  await books.getByRole('link', {name: 'The Lab Book', exact: true}).click();
  await page.getByText('Go back to how it was read before').click();
  await page.getByRole('button', {name: 'Go back to it'}).click();
  await page.getByText('Go back to how it was read before').waitFor({state: 'detached'});
  await page.goto(`${server.address}/teacher`);
  await eventually(() => books.getByText('4 pages').count(), 1);
  const titles = async (): Promise<string> => (await fetch(`${server.address}/`)).text();
  await eventually(async () => (await titles()).includes('Cables'), false);
});

test('a book is renamed, hidden, removed and brought back by keyboard alone, and axe finds nothing on its pages', async () => {
  const page = await signedIn();
  const titles = async (): Promise<string> => (await fetch(`${server.address}/`)).text();
  await page.goto(`${server.address}/teacher/books/lab`);
  await page.getByLabel('Title').focus();
  await page.keyboard.type('Robots for all');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', {level: 1, name: 'Robots for all'}).waitFor();
  expect(await titles()).toContain('Robots for all');
  expect(await findings(page)).toEqual([]);
  await press(page, 'Hide it from pupils');
  await section(page, 'Your books').getByText('Hidden.').waitFor();
  expect(await titles()).not.toContain('Robots for all');
  await page.getByRole('link', {name: 'Robots for all', exact: true}).press('Enter');
  await press(page, 'Show it again');
  await page.getByRole('link', {name: 'Robots for all', exact: true}).press('Enter');
  await press(page, 'Remove it');
  const back = page.getByRole('button', {name: 'Bring it back: Robots for all'});
  await back.waitFor();
  expect(await findings(page)).toEqual([]);
  expect(await titles()).not.toContain('Robots for all');
  await back.press('Enter');
  await section(page, 'Your books').getByText('The books have been read.').waitFor({timeout: 110_000});
  expect(await titles()).toContain('Robots for all');
  await page.goto(`${server.address}/teacher/books/lab/trial`);
  await page.getByRole('region', {name: 'Questions on this book'}).locator('mark').first().waitFor();
  expect(await page.getByRole('region', {name: 'Questions that it should not answer'}).getByRole('article').count()).toBe(3);
  expect(await findings(page)).toEqual([]);
  await page.goto(`${server.address}/teacher/books/lab`);
  await page.getByLabel('Title').fill('');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', {level: 1, name: 'The Lab Book'}).waitFor();
});

test('the parts of the day stand in their order, each as wide as the page', async () => {
  const page = await signedIn({viewport: {width: 1280, height: 900}});
  const names = await page.locator('.sections > section > h2').allInnerTexts();
  expect(names).toEqual(['Let the class in', 'What the class asks', 'Your books', 'Assignments', 'Machine and model']);
  const edges = await page.locator('.sections > section').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width));
  expect(new Set(edges).size).toBe(1);
  expect(await page.locator('main').innerText()).not.toMatch(/lutrin |--|LUTRIN_|chunk/);
});

test('the doctor looks while readers go on, and says how it went', async () => {
  const page = await signedIn();
  await page.getByRole('button', {name: 'Check now'}).click();
  const health = section(page, 'Machine and model');
  await health.getByText('All checks passed.').waitFor({timeout: 110_000});
  expect(await health.getByRole('listitem').count()).toBeGreaterThan(5);
});

test('what the books did not answer stands among what was missed, without names', async () => {
  const question = 'What is the best recipe for onion soup with three kinds of cheese and toasted bread on top?';
  const body = JSON.stringify({message: question, session_id: 'd'.repeat(32)});
  await fetch(`${server.address}/chat`, {method: 'POST', headers: {'Content-Type': 'application/json'}, body});
  const page = await signedIn();
  const inbox = section(page, 'What the class asks');
  const row = inbox.getByText(question).first();
  await row.waitFor();
  expect(await inbox.innerText()).not.toContain('dddd');
  const [words, card] = await Promise.all([row.boundingBox(), inbox.boundingBox()]);
  expect(words && card && words.x + words.width).toBeLessThanOrEqual((card?.x ?? 0) + (card?.width ?? 0)); // it wraps
});

test('figures follow what readers do, without loading the page again', async () => {
  const page = await signedIn();
  await page.evaluate(() => Object.assign(window, {notReloaded: true}));
  const answered = (): Promise<string> => page.locator('[data-figure=answers]').innerText();
  const before = Number(await page.locator('[data-figure=answers]').textContent());
  const body = JSON.stringify({query: 'What is a node?', session_id: 'c'.repeat(32)});
  await fetch(`${server.address}/api/query`, {method: 'POST', headers: {'Content-Type': 'application/json'}, body});
  await eventually(answered, String(before + 1), 15_000);
  expect(await page.evaluate(() => 'notReloaded' in window)).toBe(true);
});

test('without a script everything works by loading the page', async () => {
  const page = await signedIn({javaScriptEnabled: false});
  await page.getByRole('button', {name: 'Check now'}).click();
  const health = section(page, 'Machine and model');
  await health.getByText(/Checking everything|All checks passed/).waitFor();
  // A browser whose scripts are off loads the page again by itself; this one only pretends to be such, and reads no noscript.
  if (await health.getByText('Checking everything').isVisible()) {
    expect(await page.content()).toContain('<noscript><meta http-equiv="refresh"');
  }
  await expect
    .poll(async () => {
      await page.reload();
      return health.innerText();
    }, {timeout: 60_000, interval: 1000})
    .toContain('All checks passed.');
});

test('on a phone nothing scrolls sideways, and every button is large enough for a thumb', async () => {
  const page = await signedIn(PHONE);
  await section(page, 'Your books').getByText('pages').first().waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  const heights = await page.getByRole('button').evaluateAll((buttons) => buttons.map((button) => button.getBoundingClientRect().height));
  expect(Math.min(...heights)).toBeGreaterThanOrEqual(44);
});

const STATES: [string, BrowserContextOptions, (options: BrowserContextOptions) => Promise<Page>][] = [
  ['the form', {}, visit],
  ['the form, dark', {colorScheme: 'dark'}, visit],
  ['the page', {}, signedIn],
  ['the page, dark', {colorScheme: 'dark'}, signedIn],
  ['the page on a phone', PHONE, signedIn],
  ['the page on a phone, dark', {...PHONE, colorScheme: 'dark'}, signedIn],
  ['the page in forced colours', {forcedColors: 'active'}, signedIn],
];
for (const [name, options, open] of STATES) {
  test(`axe finds nothing: ${name}`, async () => {
    expect(await findings(await open(options))).toEqual([]);
  });
}
