/** An assignment from the teacher's choice to the end: thirty pupils, a phone that is away for a while, nobody is known. */

import {execFileSync} from 'node:child_process';
import {cpSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
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
const LOOKS: BrowserContextOptions[] = [{viewport: {width: 1280, height: 900}}, {...PHONE, colorScheme: 'dark'}, {viewport: {width: 1280, height: 900}, colorScheme: 'dark'}, PHONE];
const PUPILS = 30;
const NODES = '01-basics/01-nodes.md';
const TOPICS = '01-basics/02-topics.md';
/** Cards and questions that the teacher has written for two pages of the book. */
const WRITTEN = [
  {kind: 'term', file: NODES, heading: 'What a node is', topic: 'node', text: 'A process that does one job.', quotes: ['A **node** is a process that does one job.']},
  {kind: 'question', file: NODES, heading: 'What a node is', topic: 'What happens to the other nodes if one crashes?', text: 'They keep running.', quotes: ['If one node crashes, the others keep running.']},
  {kind: 'question', file: NODES, heading: 'Starting a node', topic: 'How do you see which nodes are running?', text: 'With ros2 node list, which prints their names.', quotes: ['The command `ros2 node list` prints the names of all nodes that are running.']},
  {kind: 'term', file: TOPICS, heading: 'Topics', topic: 'topic', text: 'A named channel on which nodes send messages to each other.', quotes: ['A topic is a named channel on which nodes send messages to each other.']},
  {kind: 'quiz', file: TOPICS, heading: 'Topics', topic: 'What is the sender of a message called?', text: 'The receiver is the subscriber.', choices: ['a publisher', 'a subscriber', 'a channel'], answer: 0, quotes: ['The sender is called a publisher, the receiver is called a subscriber.']},
  {kind: 'question', file: TOPICS, heading: 'Quality of service', topic: 'Which delivery suits a sensor that sends 30 times a second?', text: 'Best-effort delivery, which does not repeat a lost message.', quotes: ['Best-effort delivery does not repeat a lost message']},
];
const root = mkdtempSync(join(tmpdir(), 'lutrin-assignment-'));
vi.setConfig({testTimeout: 240_000});
let server: RealServer;
let browser: Browser;
const readers: Reader[] = [];
/** Path of the page for the class. */
let path = '';

/** The small book of the tests, with the companion that its teacher wrote. */
function writeCorpus(): string {
  const corpus = join(root, 'corpus');
  const drafts = join(root, 'drafts.jsonl');
  cpSync(fileURLToPath(new URL('../fixtures', import.meta.url)), corpus, {recursive: true});
  writeFileSync(drafts, WRITTEN.map((entry) => JSON.stringify({...entry, author: 'the authors', state: 'approved'})).join('\n'));
  execFileSync(LUTRIN, ['companion', 'merge', drafts, '--corpus', join(corpus, 'lab'), '--data-dir', join(root, 'merging')]);
  return corpus;
}

beforeAll(async () => {
  [server, browser] = await Promise.all([RealServer.start({corpus: writeCorpus(), token: PASSWORD, model: 'none', variables: {LUTRIN_RATE_PEER_PER_MIN: '0'}}), launch()]);
}, 240_000);
afterEach(() => closed(readers));
afterAll(async () => {
  await browser.close();
  await server.remove();
  rmSync(root, {recursive: true});
});

async function visit(address: string, options: BrowserContextOptions = {}): Promise<Page> {
  const reader = await Reader.at(browser, server.address, address, options);
  readers.push(reader);
  return reader.page;
}

let kept: BrowserContextOptions['storageState'];

async function teacher(address: string, options: BrowserContextOptions = {}): Promise<Page> {
  if (kept !== undefined) return visit(address, {...options, storageState: kept});
  const page = await visit('/teacher', options);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByLabel('Password').press('Enter');
  await page.getByRole('button', {name: 'Sign out'}).waitFor();
  kept = await page.context().storageState();
  await page.goto(server.address + address);
  return page;
}

/** Do everything that the page asks for, press by press, as a pupil who knows every second card. */
const workAll = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    const press = async (part: Element, name: string): Promise<void> => {
      [...part.querySelectorAll('button')].find(({textContent}) => textContent === name)?.click();
      await new Promise((resolve) => setTimeout(resolve)); // the page acts on each press before the next one
    };
    for (const item of document.querySelectorAll('[data-read]')) await press(item, 'I have read it');
    for (const [place, card] of document.querySelectorAll('[data-card]').entries()) {
      card.querySelector('details')?.setAttribute('open', '');
      card.querySelector<HTMLInputElement>('.choices input')?.click();
      await press(card, 'Check');
      await press(card, place % 2 ? 'I did not' : 'I knew it');
    }
  });

test('a teacher chooses pages, cards and questions by keyboard alone, and gets a link with its code', async () => {
  const page = await teacher('/teacher');
  await page.getByRole('link', {name: 'Give the class something to do'}).press('Enter');
  await page.getByText('Single pages').press('Enter').catch(() => undefined);
  await page.getByLabel('Nodes', {exact: true}).press('Space');
  await page.getByLabel('Topics', {exact: true}).press('Space');
  await page.getByLabel('Cards to learn').fill('2');
  await page.getByLabel('Questions', {exact: true}).fill('3');
  await page.getByRole('button', {name: 'Choose cards and questions'}).press('Enter');
  const title = page.getByLabel('Title');
  await title.fill('Nodes for Friday');
  expect(await page.getByRole('group', {name: 'Cards to learn'}).getByRole('checkbox', {checked: true}).count()).toBe(2);
  expect(await page.getByRole('group', {name: 'Questions'}).getByRole('checkbox', {checked: true}).count()).toBeGreaterThan(0);
  expect(await axeFindings({page})).toEqual([]);
  await page.getByLabel('Hints, while pupils ask').selectOption('first');
  await page.getByRole('button', {name: 'Hand it out'}).press('Enter');
  await page.getByRole('heading', {level: 1, name: 'Nodes for Friday'}).waitFor();
  path = (await page.getByRole('link', {name: 'Open it'}).first().getAttribute('href')) ?? '';
  expect(path).toMatch(/^\/a\/[a-z2-9]{7}$/);
});

test.each(LOOKS)('axe finds nothing on the pages of the teacher and of the class, and nothing is wider than the screen: %o', async (look) => {
  for (const address of [`/teacher/assignments/${path.slice(3)}`, '/teacher/assignments/new?book=lab&chapter=0&cards=3&questions=3&kind=gap', '/teacher#assignments']) {
    const page = await teacher(address, look);
    expect(await axeFindings({page}), address).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), address).toBeLessThanOrEqual(0);
  }
  const page = await visit(path, look);
  await page.getByRole('button', {name: /^I have read it/}).first().waitFor();
  expect(await axeFindings({page})).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
});

test('a phone goes on while the server is away, and sends its results once when it is back', async () => {
  const page = await visit(path, PHONE);
  const read = page.getByRole('button', {name: /^I have read it/});
  await read.first().waitFor();
  await eventually(() => page.evaluate(async () => (await caches.keys()).length > 0 && (await navigator.serviceWorker.ready).active !== null), true);
  await eventually(
    () => page.evaluate(async (own) => {
      const all = await Promise.all((await caches.keys()).map(async (name) => (await (await caches.open(name)).keys()).map(({url}) => new URL(url).pathname)));
      return all.flat().includes(own);
    }, path),
    true,
    20_000,
  );
  await page.getByRole('link', {name: 'Nodes', exact: true}).first().click();
  await page.getByText('Assignment:').waitFor();
  expect(await page.locator('lutrin-chat').getAttribute('data-hints')).toBe('first');
  await page.getByRole('button', {name: 'I have read it'}).click();
  await server.down();
  await page.getByRole('link', {name: 'Nodes for Friday'}).click();
  await read.first().waitFor();
  await workAll(page);
  await page.getByText('kept here and sent when it is back').waitFor();
  await page.reload();
  await page.getByText(/All \d+ done/).waitFor();
  await server.up();
  kept = undefined; // who was signed in is forgotten with the process
  const results = await teacher(`/teacher/assignments/${path.slice(3)}`);
  await eventually(async () => {
    await page.reload();
    await results.reload();
    return results.locator('.tally').innerText();
  }, expect.stringMatching(/^1 of \d+ who opened it/) as unknown as string, 30_000);
  await page.reload();
  await page.getByText('never who you are').waitFor();
  await results.reload();
  expect(await results.locator('.tally').innerText()).toMatch(/^1 of /);
  expect(await results.getByText('did not know it').count()).toBe(0);
});

test('thirty pupils work; their teacher sees how many have finished and what was hard, and forgets it', async () => {
  for (let pupil = 0; pupil < PUPILS; pupil += 1) {
    const reader = await Reader.at(browser, server.address, '/health', {...PHONE, serviceWorkers: 'block'});
    readers.push(reader);
    const {page} = reader;
    if (pupil < PUPILS - 1) await page.route(/\/widget\/(lutrin|learning)\./, (route) => route.abort()); // the chat is not used here
    await page.goto(server.address + path);
    await page.getByRole('button', {name: /^I have read it/}).first().waitFor();
    await workAll(page);
    await page.getByText(/All \d+ done/).waitFor();
    await eventually(() => page.evaluate(() => Object.entries(localStorage).some(([name, value]) => name.startsWith('lutrin:assignment:') && value.includes('"finished":"yes"'))), true, 20_000);
    if (pupil < PUPILS - 1) await closed(readers);
  }
  const pupil = readers[0]?.page as Page;
  const page = await teacher(`/teacher/assignments/${path.slice(3)}`);
  expect(await page.locator('.tally').innerText()).toMatch(/^3[01] of \d+ who opened it have finished/);
  expect(await page.getByText(/ of 3[01] did not know it/).count()).toBeGreaterThan(0);
  expect(await axeFindings({page})).toEqual([]);
  await page.getByRole('button', {name: 'Forget it'}).press('Enter');
  await page.getByRole('heading', {name: 'Assignments'}).waitFor();
  expect(await page.getByText('Nodes for Friday').count()).toBe(0);
  await pupil.reload();
  await pupil.getByText('This assignment is over').waitFor();
  await eventually(() => pupil.evaluate(() => [localStorage.getItem('lutrin:assignments'), Object.keys(localStorage).filter((name) => name.startsWith('lutrin:assignment:')).length].join(' ')), '[] 0');
}, 600_000);
