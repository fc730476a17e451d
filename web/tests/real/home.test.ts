/** From an empty machine to a class that asks her own slides, Word document and PDF; a folder that is watched meanwhile. */

import {execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import type {Browser, BrowserContextOptions, Page} from 'playwright-core';
import {afterAll, afterEach, beforeAll, expect, test, vi} from 'vitest';
import {axeFindings} from '../support/axe.ts';
import {launch, Reader} from '../support/browser.ts';
import {closed, eventually} from '../support/harness.ts';
import {LUTRIN, RealServer} from '../support/real-server.ts';

const PASSWORD = 'a-long-password-for-a-test';
const PHONE: BrowserContextOptions = {viewport: {width: 390, height: 800}, hasTouch: true, isMobile: true};
const PYTHON = LUTRIN.replace(/lutrin$/, 'python');
const QUESTIONS = [
  ['What are stomata?', 'small pores of a leaf'],
  ['When does a spring tide come?', 'stand in one line'],
  ['What is the focal length of our school lens?', '15 cm'],
] as const;
vi.setConfig({testTimeout: 300_000});
const corpus = mkdtempSync(join(tmpdir(), 'lutrin-home-corpus-'));
const files = mkdtempSync(join(tmpdir(), 'lutrin-home-files-'));
let server: RealServer;
let browser: Browser;
let kept: Exclude<BrowserContextOptions['storageState'], undefined> = {cookies: [], origins: []};
const readers: Reader[] = [];

beforeAll(async () => {
  execFileSync(PYTHON, ['-m', 'tests.ingest.classroom_files', files], {cwd: fileURLToPath(new URL('../../..', import.meta.url))});
  [server, browser] = await Promise.all([RealServer.empty(corpus, {LUTRIN_WATCH: 'true', LUTRIN_RATE_PEER_PER_MIN: '0'}), launch()]);
}, 240_000);
afterEach(() => closed(readers));
afterAll(async () => {
  await browser.close();
  await server.remove();
  for (const folder of [corpus, files]) rmSync(folder, {recursive: true});
});

async function reader(address: string, options: BrowserContextOptions = {}): Promise<Reader> {
  const made = await Reader.at(browser, server.address, address, options);
  readers.push(made);
  return made;
}

const sideways = (page: Page): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

test('an empty machine leads to the password by a code, and to her three files, by keyboard alone', async () => {
  const {page} = await reader('/');
  expect(await axeFindings({page})).toEqual([]);
  await page.getByRole('link', {name: 'Add your books on your own page'}).press('Enter');
  await page.waitForURL('**/teacher');
  await eventually(() => /code ([\d ]+)/.test(server.printed), true, 20_000);
  const code = /code ([\d ]+\d)/.exec(server.printed)?.[1] ?? '';
  expect(await axeFindings({page})).toEqual([]);
  await page.getByLabel('Code').fill('0000 0000');
  await page.getByLabel('Your new password').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Code').fill(code);
  await page.getByLabel('Your new password').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('button', {name: 'Sign out'}).waitFor();
  expect(await axeFindings({page})).toEqual([]);
  kept = await page.context().storageState();
  await page.getByLabel('Choose files').setInputFiles(['photosynthesis.pptx', 'tides.docx', 'lenses.pdf'].map((name) => join(files, name)));
  const send = page.getByRole('button', {name: 'Send and read'});
  await send.press('Enter');
  const books = page.getByRole('list', {name: 'Books'});
  await eventually(() => books.getByRole('heading').count(), 3, 120_000);
  await books.getByText(/^3 slides/).or(books.getByText(/^3 pages/)).first().waitFor();
  expect(await page.locator('main').innerText()).not.toMatch(/lutrin |--|LUTRIN_|chunk|BadZip/);
});

test.each([{viewport: {width: 1280, height: 900}}, {...PHONE, colorScheme: 'dark' as const}])('she tries what her pupils will get, and lets the class in: %o', async (look: BrowserContextOptions) => {
  const {page} = await reader('/teacher', {...look, storageState: kept});
  expect(await axeFindings({page})).toEqual([]);
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  await page.getByRole('link', {name: 'Try it'}).first().press('Enter');
  await page.getByRole('heading', {name: 'What your pupils will get'}).waitFor();
  expect(await axeFindings({page})).toEqual([]);
});

test.each([PHONE, {...PHONE, colorScheme: 'dark' as const}, {viewport: {width: 1280, height: 900}}])('the class asks her slides, her document and her PDF: %o', async (look: BrowserContextOptions) => {
  const pupil = await reader('/', look);
  await pupil.open();
  for (const [question, answer] of QUESTIONS) {
    await pupil.ask(question);
    await pupil.answers.last().getByText(answer).first().waitFor();
  }
  expect(await axeFindings(pupil, 'lutrin-chat')).toEqual([]);
  expect(await sideways(pupil.page)).toBeLessThanOrEqual(0);
});

test('a folder that is copied into the watched one is read once it is whole', async () => {
  const {page} = await reader('/teacher', {storageState: kept});
  const books = page.getByRole('list', {name: 'Books'});
  mkdirSync(join(corpus, 'volcanoes'));
  writeFileSync(join(corpus, 'volcanoes/one.md'), '# Volcanoes\n\nMagma that reaches the surface is called la');
  await new Promise((resolve) => setTimeout(resolve, 1500));
  writeFileSync(join(corpus, 'volcanoes/one.md'), '# Volcanoes\n\nMagma that reaches the surface is called lava.\n');
  writeFileSync(join(files, 'two.md'), '# Craters\n\nA caldera is a crater that is left when a volcano falls in.\n');
  renameSync(join(files, 'two.md'), join(corpus, 'volcanoes/two.md'));
  await eventually(async () => {
    await page.reload();
    return books.getByRole('heading', {name: /volcanoes/i}).count();
  }, 1, 120_000);
  const pupil = await reader('/');
  await pupil.open();
  await pupil.ask('What is magma called that reaches the surface?');
  await pupil.answers.last().getByText('lava.').first().waitFor();
});
