/**
 * The journeys of a class that learns, each on a laptop and a phone, in light and dark, by keyboard alone; axe looks on. The
 * name of a test ends with its setting: `just test` makes those of one, nightly tests those of all.
 */

import {cpSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import type {Browser, BrowserContextOptions} from 'playwright-core';
import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest';
import {axeFindings} from '../support/axe.ts';
import {launch, Reader} from '../support/browser.ts';
import {closed, eventually} from '../support/harness.ts';
import {RealServer} from '../support/real-server.ts';
import {told, withVoices} from '../support/voices.ts';

const NODES = '/read/lab/01-basics/01-nodes';
const WATCHDOGS = '/read/lab/01-basics/05-watchdogs';
const DECK = '/study/lab/deck';
const QUESTION = 'What is a node?';
const ANSWER = 'process that does one job';
const EXERCISE = 'How long may a command stay away before the watchdog stops the motors?';
const PAGE = `# Watchdogs

## What a watchdog does

A **watchdog** stops the motors of the robot as soon as commands stay away for longer than 100 ms. It is reset by every command that arrives.

## Drives

A **duty cycle** is the share $D = t/T$ of each period for which a motor is switched on. With a duty cycle of one half it runs slowly; the duty cycle is set by its driver.

An **encoder** is a sensor that counts how far a wheel has turned. Each wheel has an encoder, and every encoder is read a hundred times in a second.

A **gearbox** is a set of toothed wheels that turns fast motion into strong motion. A gearbox is loud; oil keeps the gearbox quiet.

A **battery pack** is a group of cells that are joined to give a higher voltage. Charge the battery pack at night, and carry a second battery pack.

## Exercises

1. ${EXERCISE}
2. Why is a watchdog reset by every command?
`;
const PHONE: BrowserContextOptions = {viewport: {width: 390, height: 760}, hasTouch: true, isMobile: true};
const LAPTOP: BrowserContextOptions = {viewport: {width: 1280, height: 800}};
const SETTINGS: readonly [string, BrowserContextOptions][] = [
  ['1280 px, light', {...LAPTOP, colorScheme: 'light'}],
  ['1280 px, dark', {...LAPTOP, colorScheme: 'dark'}],
  ['390 px, light', {...PHONE, colorScheme: 'light'}],
  ['390 px, dark', {...PHONE, colorScheme: 'dark'}],
];
const PASSWORD = 'a-long-password-for-a-test';
const DAY_MS = 86_400_000;
/** Of the key Tab, from one end of a page to the other. */
const MOST_STEPS = 120;
const corpus = mkdtempSync(join(tmpdir(), 'lutrin-class-'));
const readers: Reader[] = [];
let browser: Browser;
let lutrin: RealServer;

beforeAll(async () => {
  cpSync(fileURLToPath(new URL('../fixtures', import.meta.url)), corpus, {recursive: true});
  writeFileSync(join(corpus, 'lab/01-basics/05-watchdogs.md'), PAGE);
  lutrin = await RealServer.start({corpus, model: 'none', token: PASSWORD});
  browser = await launch();
}, 240_000);

afterEach(() => closed(readers));
afterAll(async () => {
  await browser.close();
  await lutrin.remove();
  rmSync(corpus, {recursive: true});
});

async function visit(path: string, options: BrowserContextOptions): Promise<Reader> {
  const reader = await Reader.at(browser, lutrin.address, path, options);
  readers.push(reader);
  return reader;
}

/** The name of what has the focus, in the panel too. */
const focused = ({page}: Reader): Promise<string> =>
  page.evaluate(() => {
    const {activeElement: host} = document;
    const inside = host?.shadowRoot?.activeElement ?? host;
    const label = inside instanceof HTMLInputElement ? inside.labels?.[0]?.textContent : inside?.textContent;
    return (inside?.getAttribute('aria-label') ?? label ?? '').trim();
  });

/** Go to a part of the page by the key Tab. */
async function reach(reader: Reader, name: string | RegExp): Promise<void> {
  const seen: string[] = [];
  for (let n = 0; n < MOST_STEPS; n += 1) {
    const now = await focused(reader);
    if (typeof name === 'string' ? now === name : name.test(now)) return;
    seen.push(now.slice(0, 40));
    await reader.page.keyboard.press('Tab');
  }
  throw new Error(`no key leads to ${String(name)}: ${[...new Set(seen)].join(' | ')}`);
}

async function press(reader: Reader, name: string | RegExp): Promise<void> {
  await reach(reader, name);
  await reader.page.keyboard.press('Enter');
}

/** Open the panel, and ask in it. */
async function ask(reader: Reader, question: string): Promise<void> {
  const before = await reader.finished.count();
  if (!(await reader.panel.isVisible())) await reader.page.keyboard.press('Control+i');
  await reader.panel.waitFor();
  await reach(reader, 'Your question');
  await reader.page.keyboard.press('Control+a');
  await reader.page.keyboard.type(question);
  await reader.page.keyboard.press('Enter');
  await reader.finished.nth(before).waitFor();
}

/** Nothing is wrong with what is shown. */
async function isSound(reader: Reader, part = 'html'): Promise<void> {
  expect(await axeFindings(reader, part)).toEqual([]);
}

const spoken = ({page}: Reader): Promise<string> => page.evaluate(() => [...(CSS.highlights.get('lutrin-spoken') ?? [])].map(String).join());

/** Which of these paths this browser keeps, or the beginnings of paths that it keeps. */
function keptOf(reader: Reader, paths: readonly string[]): Promise<string[]> {
  return reader.page.evaluate(async (wanted) => {
    const all: string[] = [];
    for (const name of await caches.keys()) for (const {url} of await (await caches.open(name)).keys()) all.push(new URL(url).pathname);
    return wanted.filter((path) => all.some((kept) => kept.startsWith(path)));
  }, paths);
}

describe.each(SETTINGS)('a pupil, %s', (setting, options) => {
  test(`chooses hints: where to look, the sentence without its key word, the answer (${setting})`, async () => {
    const reader = await visit(NODES, options);
    await press(reader, 'Text size, colours and hints');
    await reach(reader, 'As the book');
    const first = reader.page.getByRole('radio', {name: 'First'});
    for (let n = 0; n < 4 && !(await first.isChecked()); n += 1) await reader.page.keyboard.press('ArrowRight');
    await isSound(reader);
    await reader.page.keyboard.press('Escape');
    await reader.page.reload(); // the browser remembers
    await ask(reader, QUESTION);
    const hinted = reader.widget.locator('.hinted');
    expect(await hinted.innerText()).toContain('Look in');
    expect(await reader.panel.innerText()).not.toContain(ANSWER);
    await isSound(reader, 'lutrin-chat');
    await press(reader, 'A hint');
    await hinted.getByText('_____').waitFor();
    expect(await reader.panel.innerText()).not.toContain(ANSWER);
    await isSound(reader, 'lutrin-chat');
    await press(reader, 'The answer');
    await reader.answers.getByText(ANSWER).first().waitFor();
    expect(await hinted.count()).toBe(0);
    await isSound(reader, 'lutrin-chat');
  }, 90_000);

  test(`is asked back, adds the card, and meets it again tomorrow (${setting})`, async () => {
    const reader = await visit(NODES, options);
    const {page} = reader;
    await ask(reader, QUESTION);
    const back = reader.widget.locator('.ask-back');
    const front = await back.locator('.front').innerText();
    expect(await back.locator('.back').isVisible()).toBe(false);
    await press(reader, 'Show the answer');
    expect(await back.locator('.back').isVisible()).toBe(true);
    await isSound(reader, 'lutrin-chat');
    await press(reader, 'Add to my cards');
    await reader.button('In your cards. It comes again tomorrow.').waitFor();
    await isSound(reader, 'lutrin-chat');
    await page.keyboard.press('Escape');
    await page.goto(`${lutrin.address}/study/lab/today`);
    await page.getByText('Nothing is due.').waitFor();
    await page.locator('.mine').getByText(front).waitFor();
    await isSound(reader, 'main');
    await page.clock.install({time: new Date(Date.now() + DAY_MS)});
    await page.goto(`${lutrin.address}/study/lab`);
    await page.locator('.due [role=status]').getByText('1 card').waitFor();
    await press(reader, 'Practise what is due today');
    await page.waitForURL('**/today');
    await page.getByRole('button', {name: 'Practise these cards'}).waitFor();
    await press(reader, 'Practise these cards');
    expect(await page.locator('.flash .front:visible').innerText()).toBe(front);
    await page.keyboard.press('Enter'); // the focus is on what opens the card
    await page.getByRole('button', {name: /^Good/}).waitFor();
    await isSound(reader, 'main');
    await press(reader, /^Easy/);
    await page.getByText(/Done for now\. The next card comes in/).waitFor();
  }, 120_000);

  test(`works on an exercise of the book, where hints are offered, and elsewhere not (${setting})`, async () => {
    const reader = await visit(WATCHDOGS, options);
    await ask(reader, EXERCISE);
    await reader.button('A hint').waitFor();
    await reader.button('The answer').waitFor();
    expect(await reader.panel.innerText()).not.toContain('100 ms');
    await isSound(reader, 'lutrin-chat');
    await press(reader, 'A hint');
    await reader.widget.locator('.hinted').getByText('_____').waitFor();
    expect(await reader.panel.innerText()).not.toContain('100 ms');
    await isSound(reader, 'lutrin-chat');
    await press(reader, 'The answer');
    await reader.answers.getByText('100 ms').first().waitFor();
    await isSound(reader, 'lutrin-chat');
    await ask(reader, QUESTION);
    await reader.answers.last().getByText(ANSWER).first().waitFor();
    expect(await reader.widget.locator('.hinted').count()).toBe(0);
  }, 90_000);

  test(`reads and practises for an hour without a network, and asks when it is back (${setting})`, async () => {
    const reader = await visit(NODES, options);
    const {page} = reader;
    await eventually(() => keptOf(reader, [NODES]), [NODES], 30_000); // from then on every page that is opened is kept
    await page.clock.install();
    await page.goto(lutrin.address + DECK);
    await page.goto(lutrin.address + NODES);
    const paths = [NODES, DECK, '/widget/practice'];
    await eventually(() => keptOf(reader, paths), paths, 30_000);
    await reader.context.setOffline(true);
    await page.reload();
    await page.locator('article').getByText(ANSWER).first().waitFor();
    await ask(reader, QUESTION);
    await reader.answers.getByText('The school computer does not answer. Your question is kept.').waitFor();
    await isSound(reader, 'lutrin-chat');
    await page.keyboard.press('Escape');
    await page.clock.fastForward('01:00:00');
    await page.goto(lutrin.address + DECK);
    await page.getByRole('button', {name: 'Practise these cards'}).waitFor();
    await press(reader, 'Practise these cards');
    await page.keyboard.press('Enter');
    await page.getByRole('button', {name: /^Good/}).waitFor();
    await isSound(reader, 'main');
    await press(reader, /^Good/);
    await reader.context.setOffline(false);
    await page.goto(lutrin.address + NODES);
    await ask(reader, QUESTION);
    await reader.answers.last().getByText(ANSWER).first().waitFor();
  }, 120_000);

  test(`has a page and an answer read aloud by the device itself, each sentence marked (${setting})`, async () => {
    const reader = await visit(NODES, options);
    await withVoices(reader, [{lang: 'en-US', localService: false}, {lang: 'en-GB', localService: true}]);
    await press(reader, 'Read aloud');
    await expect.poll(() => spoken(reader)).toBe('A node is a process that does one job.');
    await expect.poll(() => told(reader), {timeout: 10_000}).toContain('Start a node with ros2 run:');
    expect((await told(reader)).slice(0, 3)).toEqual(['Nodes', 'ROS 2 is a set of libraries and tools for building robots out of small programs.', 'What a node is']);
    expect((await told(reader)).join(' ')).not.toContain('demo_nodes_cpp'); // code is nothing to listen to
    await reader.page.getByRole('button', {name: 'Read aloud'}).waitFor(); // it has ended
    expect(await spoken(reader)).toBe('');
    await isSound(reader);
    await ask(reader, QUESTION);
    const before = (await told(reader)).length;
    await press(reader, 'Read aloud');
    await press(reader, 'Stop reading');
    await reader.widget.getByRole('button', {name: 'Read aloud'}).waitFor();
    expect((await told(reader)).slice(before, before + 1)).toEqual(['A node is a process that does one job.']);
    await isSound(reader);
  }, 90_000);

  test(`finds a book that nobody has prepared with cards, and terms with their formulas; its teacher approves one (${setting})`, async () => {
    const teacher = await visit('/teacher', options);
    await reach(teacher, 'Password');
    await teacher.page.keyboard.type(PASSWORD);
    await teacher.page.keyboard.press('Enter');
    await teacher.page.getByRole('heading', {name: 'Your books', exact: true}).waitFor();
    await teacher.page.goto(`${lutrin.address}/teacher/companion/lab?state=proposed`);
    const left = async (): Promise<number> => Number.parseInt(await teacher.page.getByRole('status').innerText(), 10);
    const before = await left();
    await isSound(teacher);
    await press(teacher, 'Approve');
    await eventually(left, before - 1);
    await isSound(teacher);
    const pupil = await visit('/study/lab/glossary', options);
    await pupil.page.locator('dd', {hasText: 'of each period'}).locator('math').waitFor();
    expect(await pupil.page.locator('main').innerText()).not.toContain('$');
    await isSound(pupil);
    await pupil.page.goto(lutrin.address + WATCHDOGS);
    await press(pupil, 'Terms');
    await pupil.page.locator('.notes dd math').waitFor();
    await isSound(pupil);
    await pupil.page.goto(`${lutrin.address}/study/lab/glossary`);
    await press(pupil, 'Cards');
    await pupil.page.waitForURL('**/deck?*');
    await pupil.page.locator('.flash', {hasText: 'gearbox'}).waitFor();
    await isSound(pupil);
  }, 120_000);
});
