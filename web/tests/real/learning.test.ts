/** A class that learns: a hint before the answer, a question after it, the card that comes again tomorrow. */

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

const NODES = '/read/lab/01-basics/01-nodes';
const WATCHDOGS = '/read/lab/01-basics/05-watchdogs';
const PHONE: BrowserContextOptions = {viewport: {width: 390, height: 760}, hasTouch: true, isMobile: true};
const EXERCISE = 'How long may a command stay away before the watchdog stops the motors?';
const PAGE = `# Watchdogs

## What a watchdog does

A **watchdog** stops the motors of the robot as soon as commands stay away for longer than 100 ms. It is reset by every command that arrives.

## Exercises

1. ${EXERCISE}
2. Why is a watchdog reset by every command?
`;
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

const DEVICES = [['laptop', {}], ['phone, dark', {...PHONE, colorScheme: 'dark'}]] as const;

for (const [device, options] of DEVICES) {
  test(`an answer asks back, the card is added, and it comes again tomorrow (${device})`, async () => {
    const reader = await visit(NODES, options);
    await reader.open();
    await reader.ask('What is a node?');
    const back = reader.widget.locator('.ask-back');
    await back.waitFor();
    const front = await back.locator('.front').innerText();
    expect(front).not.toBe('');
    expect(await back.locator('.back').isVisible()).toBe(false);
    await back.locator('summary').click();
    expect(await back.locator('.back').isVisible()).toBe(true);
    await back.scrollIntoViewIfNeeded();
    await picture(reader, `ask-back-${device}`);
    expect(await axeFindings(reader, 'lutrin-chat')).toEqual([]);
    await reader.button('Add to my cards').click();
    await reader.button('In your cards. It comes again tomorrow.').waitFor();
    const {page} = reader;
    await reader.button('Close').click();
    await page.goto(`${lutrin.address}/study/lab/today`);
    await page.getByText('Nothing is due.').waitFor();
    await page.locator('.mine').getByText(front).waitFor();
    await page.clock.install({time: new Date(Date.now() + 86_400_000)});
    await page.goto(`${lutrin.address}/study/lab`);
    await page.locator('.due [role=status]').getByText('1 card').waitFor();
    await page.getByRole('link', {name: 'Practise what is due today'}).click();
    await page.getByRole('button', {name: 'Practise these cards'}).click();
    expect(await page.locator('.flash .front:visible').innerText()).toBe(front);
    await page.keyboard.press('Enter');
    await page.getByRole('button', {name: /^Good/}).waitFor();
    await picture(reader, `tomorrow-${device}`);
    expect(await axeFindings(reader, 'main')).toEqual([]);
    await page.getByRole('button', {name: /^Easy/}).click();
    await page.getByText(/Done for now\. The next card comes in/).waitFor();
    await page.reload();
    await page.getByText('Nothing is due.').waitFor();
    await page.getByRole('button', {name: `Remove the card: ${front}`}).click();
    await page.reload();
    await page.getByText('Nothing is due.').waitFor();
    expect(await page.locator('.mine').isVisible()).toBe(false);
  }, 120_000);
}

test.each(DEVICES)('hint first: where to look, then the sentence without its key word, then the answer, by keyboard (%s)', async (device, options) => {
  const reader = await visit(NODES, options);
  await reader.page.getByRole('button', {name: 'Text size, colours and hints'}).click();
  await reader.page.getByRole('radio', {name: 'First'}).check();
  await reader.page.keyboard.press('Escape');
  await reader.page.reload(); // the browser remembers
  await reader.open();
  await reader.ask('What is a node?');
  const hinted = reader.widget.locator('.hinted');
  await reader.button('A hint').waitFor();
  expect(await hinted.innerText()).toContain('Look in');
  expect(await reader.answers.innerText()).not.toContain('process that does one job');
  expect(await reader.widget.locator('.status').innerText()).not.toContain('process that does one job');
  expect(await axeFindings(reader, 'lutrin-chat')).toEqual([]);
  await picture(reader, `hint-place-${device}`);
  await reader.button('A hint').focus();
  await reader.page.keyboard.press('Enter');
  await hinted.getByText('_____').waitFor();
  await picture(reader, `hint-sentence-${device}`);
  expect(await axeFindings(reader, 'lutrin-chat')).toEqual([]);
  expect(await reader.answers.innerText()).not.toContain('process that does one job');
  await reader.page.keyboard.press('Enter'); // the focus is on *The answer*
  await reader.answers.getByText('process that does one job').first().waitFor();
  expect(await hinted.count()).toBe(0);
}, 60_000);

test('on an exercise of the book a hint is offered, elsewhere not; the answer is one tap away', async () => {
  const reader = await visit(WATCHDOGS, PHONE);
  await reader.open();
  await reader.ask(EXERCISE);
  await reader.button('A hint').waitFor();
  expect(await reader.answers.innerText()).not.toContain('100 ms');
  await picture(reader, 'exercise-offered');
  await reader.button('The answer').tap();
  await reader.answers.getByText('100 ms').first().waitFor();
  await reader.ask('What is a node?');
  await reader.answers.last().getByText('process that does one job').first().waitFor();
  expect(await reader.widget.locator('.hinted').count()).toBe(0);
}, 60_000);

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

/** A device with these voices, which says what it was told to say, a sentence every 150 ms. */
async function withVoices(reader: Reader, voices: readonly {lang: string; localService: boolean}[]): Promise<void> {
  await reader.context.addInitScript((known) => {
    const told: string[] = [];
    class Utterance {
      onend?: () => void;
      constructor(readonly text: string) {}
    }
    const speech = {
      getVoices: () => known,
      addEventListener: () => undefined,
      cancel: () => undefined,
      speak: (utterance: Utterance) => {
        told.push(utterance.text);
        setTimeout(() => utterance.onend?.(), 150);
      },
    };
    Object.defineProperties(window, {speechSynthesis: {value: speech}, SpeechSynthesisUtterance: {value: Utterance}, told: {value: told}});
  }, voices);
  await reader.page.reload();
}

const told = (reader: Reader): Promise<string[]> => reader.page.evaluate(() => [...(window as unknown as {told: string[]}).told]);
const marked = (reader: Reader): Promise<string> => reader.page.evaluate(() => [...(CSS.highlights.get('lutrin-spoken') ?? [])].map(String).join());

test.each(DEVICES)('a page and an answer are read aloud by the device itself, sentence by sentence, each marked as it is read (%s)', async (_, options) => {
  const reader = await visit(NODES, options);
  await withVoices(reader, [{lang: 'en-US', localService: false}, {lang: 'en-GB', localService: true}]);
  await reader.page.getByRole('button', {name: 'Read aloud'}).click();
  await expect.poll(() => marked(reader)).toBe('A node is a process that does one job.');
  await picture(reader, 'read-aloud');
  await expect.poll(() => told(reader), {timeout: 10_000}).toContain('Start a node with ros2 run:');
  expect((await told(reader)).slice(0, 3)).toEqual(['Nodes', 'ROS 2 is a set of libraries and tools for building robots out of small programs.', 'What a node is']);
  expect((await told(reader)).join(' ')).not.toContain('demo_nodes_cpp'); // code is nothing to listen to
  await reader.page.getByRole('button', {name: 'Read aloud'}).waitFor(); // it has ended
  expect(await marked(reader)).toBe('');
  await reader.open();
  await reader.ask('What is a node?');
  const before = (await told(reader)).length;
  const listen = reader.widget.getByRole('button', {name: 'Read aloud'});
  await listen.click();
  await reader.widget.getByRole('button', {name: 'Stop reading'}).click();
  await listen.waitFor();
  expect((await told(reader)).slice(before, before + 1)).toEqual(['A node is a process that does one job.']);
  expect(await axeFindings(reader, 'html')).toEqual([]);
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
test('a phone that has no network for an hour reads and practises on, and asks when it is back', async () => {
  const reader = await visit(NODES, PHONE);
  const {page} = reader;
  const deck = `${lutrin.address}/study/lab/deck`;
  await page.clock.install();
  await page.goto(deck);
  await page.goto(lutrin.address + NODES);
  const paths = [NODES, '/study/lab/deck', '/widget/practice'];
  await expect.poll(() => keptOf(reader, paths), {timeout: 30_000}).toEqual(paths);
  await reader.context.setOffline(true);
  await page.reload();
  await page.locator('article').getByText('process that does one job').first().waitFor();
  await reader.open();
  await reader.ask('What is a node?');
  await reader.answers.getByText('The school computer does not answer. Your question is kept.').waitFor();
  await page.keyboard.press('Escape');
  await page.clock.fastForward('01:00:00');
  await page.goto(deck);
  await page.getByRole('button', {name: 'Practise these cards'}).tap();
  await page.locator('.flash summary:visible').tap();
  expect(await axeFindings(reader, 'main')).toEqual([]);
  await page.getByRole('button', {name: /^Good/}).tap();
  await reader.context.setOffline(false);
  await page.goto(lutrin.address + NODES);
  await reader.open();
  await reader.ask('What is a node?');
  await reader.answers.last().getByText('process that does one job').first().waitFor();
}, 120_000);

/** Which of these paths this browser keeps, or the beginnings of paths that it keeps. */
function keptOf(reader: Reader, paths: readonly string[]): Promise<string[]> {
  return reader.page.evaluate(async (wanted) => {
    const all: string[] = [];
    for (const name of await caches.keys()) for (const {url} of await (await caches.open(name)).keys()) all.push(new URL(url).pathname);
    return wanted.filter((path) => all.some((kept) => kept.startsWith(path)));
  }, paths);
}

