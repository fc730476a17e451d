/**
 * What people come for, each from its beginning to its end on Lutrin itself. Two more, the first visit and a citation and
 * back, are in `first.test.ts`, which every run of the tests makes.
 */

import {execFile, execFileSync} from 'node:child_process';
import {cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import type {Browser, BrowserContextOptions} from 'playwright-core';
import {afterAll, afterEach, beforeAll, expect, test} from 'vitest';
import {axeFindings} from '../support/axe.ts';
import {launch, Reader} from '../support/browser.ts';
import {closed, eventually} from '../support/harness.ts';
import {freePort, LUTRIN, RealServer} from '../support/real-server.ts';
import {ScriptedServer} from '../support/scripted-server.ts';

const NODES = '/read/lab/01-basics/01-nodes';
const TOPICS = '/read/lab/01-basics/02-topics';
const WHEELS = '/read/lab/01-basics/04-wheels';
const PASSWORD = 'a-long-password-for-a-test';
const PHONE: BrowserContextOptions = {viewport: {width: 390, height: 760}, hasTouch: true, isMobile: true};
const PATIENCE_MS = 15_000;
const PARTS = 'gripper wrist elbow shoulder neck waist hip knee ankle sole camera bumper'.split(' ');
const CARDS: readonly [string, string][] = [
  ['How long are the onions fried?', 'Fry the onions for twenty minutes before the water comes in.'],
  ['What keeps onions from burning?', 'A spoon of water keeps the onions from burning.'],
  ['Which onions are the sweetest?', 'Yellow onions are the sweetest after frying.'],
  ['When is the soup salted?', 'Salt the soup after the water has boiled.'],
];
const root = mkdtempSync(join(tmpdir(), 'lutrin-journeys-'));
const corpus = join(root, 'corpus');
let browser: Browser;
let lutrin: RealServer;
let site: ScriptedServer;
let origin = '';
const readers: Reader[] = [];

beforeAll(async () => {
  cpSync(fileURLToPath(new URL('../fixtures', import.meta.url)), corpus, {recursive: true});
  writeParts(join(corpus, 'lab'));
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  process.env['LUTRIN_CORPUS_DIR'] = corpus;
  [lutrin, browser] = await Promise.all([RealServer.start({corpus, origin, token: PASSWORD, model: 'none'}), launch()]);
  site = new ScriptedServer(lutrin.address);
  await site.listen(port);
}, 240_000);

afterAll(async () => {
  await browser.close();
  await site.close();
  await lutrin.remove();
  rmSync(root, {recursive: true});
});

afterEach(() => closed(readers));

async function visit(path: string, options: BrowserContextOptions = {}, base = lutrin.address): Promise<Reader> {
  const reader = await Reader.at(browser, base, path, options, lutrin.address);
  reader.page.setDefaultTimeout(PATIENCE_MS);
  readers.push(reader);
  return reader;
}

/** A folder of a book, a file that is none of it, and four cards that were prepared and that nobody has read yet. */
/** A page on the robot's parts, with a prepared question on each. */
function writeParts(book: string): void {
  const moved = PARTS.map((part, at) => ({part, text: `The ${part} is the part that the lab robot moves with motor number ${at + 1}.`}));
  writeFileSync(join(book, '01-basics/05-parts.md'), `# Parts\n\n${moved.map(({part, text}) => `## The ${part}\n\n${text}\n`).join('\n')}`);
  const entries = moved.map(({part, text}) => ({
    kind: 'question',
    file: '01-basics/05-parts.md',
    heading: `The ${part}`,
    author: 'the authors',
    state: 'approved',
    topic: `Which motor moves the ${part}?`,
    text,
    quotes: [text],
  }));
  merge(book, 'parts.jsonl', entries);
}

/** Sections and hashes are filled in as an author would have it done. */
function merge(book: string, name: string, entries: readonly object[]): void {
  const drafts = join(root, name);
  writeFileSync(drafts, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  execFileSync(LUTRIN, ['companion', 'merge', drafts, '--corpus', book], {env: {...process.env, LUTRIN_DATA_DIR: join(root, 'merging')}});
}

function preparedFolder(): string {
  const folder = join(root, 'cooking');
  mkdirSync(join(folder, 'soups'), {recursive: true});
  const said = CARDS.map(([, answer]) => answer).join(' ');
  writeFileSync(join(folder, 'soups/onions.md'), `# Onion soup\n\n## The onions\n\n${said}\n`);
  writeFileSync(join(folder, 'soups/photo.raw'), 'not for reading');
  const entry = {kind: 'question', file: 'soups/onions.md', heading: 'The onions', author: 'm@2026-01-01'};
  merge(folder, 'drafts.jsonl', CARDS.map(([topic, text]) => ({...entry, topic, text, quotes: [text]})));
  return folder;
}

function marked(reader: Reader): Promise<string> {
  return reader.page.evaluate(() => String([...(CSS.highlights.get('lutrin-passage') ?? [])][0] ?? ''));
}

test('search by half a word: the box from the shelf, a few letters, the section', async () => {
  const reader = await visit('/');
  await reader.page.keyboard.press('Control+k');
  await reader.page.keyboard.type('charg');
  await reader.page.getByRole('option', {name: /^Charging/}).click();
  await reader.page.waitForURL('**/03-batteries#charging');
  await eventually(async () => (await marked(reader)).includes('Charge the battery at 5 A'), true, PATIENCE_MS);
}, 60_000);

test('where nobody prepared the book and no model runs, a passage can be asked about, and no explanation is offered', async () => {
  const reader = await visit(NODES);
  await reader.select('article h2#what-a-node-is + p');
  const told = reader.page.waitForResponse('**/api/explains');
  await reader.toolbar.waitFor();
  expect(await (await told).json()).toEqual({explains: false});
  const names = await reader.toolbar.getByRole('button').allInnerTexts();
  expect(names).toContain('Ask');
  expect(names).not.toContain('Explain');
  expect(names).not.toContain('Simplify');
}, 60_000);

/** What the round button of the chat lies on, at its edge and its middle, but the bar of the grades. */
function covered(reader: Reader): Promise<string[]> {
  return reader.bubble.evaluate((bubble) => {
    const {left, top, width, height} = bubble.getBoundingClientRect();
    const spots = [[0.5, 0.02], [0.02, 0.5], [0.5, 0.5], [0.98, 0.5], [0.5, 0.98], [0.15, 0.15], [0.85, 0.85]] as const;
    const below = spots.map(([x, y]) => document.elementsFromPoint(left + x * width, top + y * height).find(({localName}) => localName !== 'lutrin-chat'));
    return below.filter((element) => !element?.matches('.grades')).map((element) => element?.outerHTML.slice(0, 80) ?? 'nothing');
  });
}

test('practise a sitting on a phone: by thumb alone, each card graded, and this browser remembers', async () => {
  const reader = await visit('/study/lab', PHONE);
  await reader.page.getByRole('link', {name: /^Cards:/}).first().tap();
  await reader.page.waitForURL('**/deck?chapter=1');
  const list = reader.page.locator('.cards-to-learn');
  const cards = await list.locator('.flash').count();
  expect(cards).toBeGreaterThan(6);
  expect(cards).toBeLessThanOrEqual(10);
  await reader.page.getByRole('button', {name: 'Practise these cards'}).tap();
  const seen = new Set<string>();
  for (let n = 0; n < cards; n += 1) {
    const card = list.locator('.flash:visible');
    seen.add((await card.getAttribute('data-card')) ?? '');
    await card.locator('summary').first().tap();
    const good = card.getByRole('button', {name: /^Good/});
    const box = await good.boundingBox();
    expect(box && box.height >= 44 && box.y + box.height <= 760).toBe(true);
    await eventually(() => covered(reader), []);
    await good.tap();
  }
  expect(seen.size).toBe(cards);
  expect(await reader.page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  const before = await reader.page.locator('.practise [role=status]').innerText();
  await reader.page.reload();
  await eventually(() => reader.page.locator('.practise [role=status]').innerText(), before, PATIENCE_MS);
}, 90_000);

test('print a chapter: all of its text, what is folded too, with title and address and nothing of the frame', async () => {
  const reader = await visit(WHEELS);
  await reader.open();
  const file = join(root, 'wheels.pdf');
  await reader.page.evaluate(() => dispatchEvent(new Event('beforeprint'))); // which the debugger's way of printing leaves out
  await reader.page.pdf({path: file, format: 'A4'});
  const reading = `import sys; from pypdf import PdfReader; print("\\n".join(page.extract_text() for page in PdfReader(sys.argv[1]).pages))`;
  const {stdout} = await promisify(execFile)(join(dirname(LUTRIN), 'python'), ['-c', reading, file]);
  const text = stdout.replace(/\s+/g, ' ');
  for (const words of ['Torque of a wheel', 'Slip makes the wheel turn further', 'The Lab Book', `127.0.0.1:${new URL(lutrin.address).port}${WHEELS}`]) {
    expect(text.replaceAll(' ', '')).toContain(words.replaceAll(' ', ''));
  }
  for (const frame of ['Search or ask', 'Ask the book', 'Copy', 'Next']) expect(text).not.toContain(frame);
}, 60_000);

test('a teacher uploads a folder and approves three cards: sent, read, told what was left out, on the shelf and to be learnt', async () => {
  const folder = preparedFolder();
  const reader = await visit('/teacher');
  const {page} = reader;
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', {name: 'Sign in'}).click();
  await page.getByLabel('Choose a folder').setInputFiles(folder);
  await page.getByText('3 files, ready to be sent.').waitFor();
  await page.getByRole('button', {name: 'Send and read'}).click();
  await page.getByText(/2 files received for one book/).waitFor();
  await page.getByText(/Left out: .*photo\.raw/).waitFor();
  await page.getByText('The books have been read.').waitFor({timeout: 120_000});
  const prepared = page.getByRole('region', {name: 'Your books', exact: true});
  await prepared.getByRole('listitem').filter({hasText: '4 not read yet'}).getByRole('link', {name: 'Read them'}).click();
  for (const left of [3, 2, 1]) {
    await page.getByRole('button', {name: 'Approve', exact: true}).first().click();
    await page.getByText(left === 1 ? '1 entry' : `${left} entries`, {exact: true}).waitFor();
  }
  expect(await axeFindings(reader, 'html')).toEqual([]);
  await page.getByRole('link', {name: 'Teacher’s page'}).click();
  await prepared.getByText('1 not read yet, 3 approved').waitFor();
  const pupil = await visit('/');
  await pupil.page.locator('.card', {hasText: /cooking/i}).first().waitFor();
  await pupil.page.goto(`${lutrin.address}/study/cooking/deck`);
  const fronts = await pupil.page.locator('.cards-to-learn .flash').allTextContents();
  for (const [question] of CARDS) expect(fronts.join('\n')).toContain(question);
}, 240_000);

test('embed in a foreign page: one tag, a floating panel, an answer whose place leads to the book', async () => {
  const reader = await visit('/', {}, origin);
  await reader.open();
  await reader.ask('What is a node?');
  expect(await reader.answers.innerText()).toContain('process that does one job');
  const place = reader.answers.locator('.place').first();
  expect(await place.getAttribute('href')).toMatch(new RegExp(`^${lutrin.address}${NODES}#what-a-node-is`));
  const frame = await reader.panel.boundingBox();
  expect(frame && frame.height < 800 && frame.width < 640).toBe(true);
}, 60_000);

test('lose the server in the middle: what was typed stays, the pages stay, and it goes on when the server is back', async () => {
  const reader = await visit(NODES);
  await eventually(() => reader.page.evaluate(async (page) => (await caches.match(page, {ignoreVary: true})) !== undefined, NODES), true, PATIENCE_MS);
  await reader.open();
  await reader.ask('What is a node?');
  await lutrin.down();
  await reader.ask('What is a topic?');
  expect(await reader.answers.last().getByRole('alert').innerText()).toBe('The school computer does not answer. Your question is kept.');
  expect(await reader.input.inputValue()).toBe('What is a topic?');
  await reader.page.goto(lutrin.address + NODES);
  expect(await reader.page.locator('main article').innerText()).toContain('process that does one job');
  expect(await reader.input.inputValue()).toBe('What is a topic?');
  await lutrin.up();
  await reader.button('Try again').click();
  await reader.questions.first().waitFor();
  await reader.input.press('Enter');
  await eventually(async () => (await reader.answers.last().innerText()).includes('named channel'), true, PATIENCE_MS);
  expect(await reader.questions.count()).toBe(2);
}, 180_000);

test('everything by keyboard: the text, the box, a tab, a note, a question, its place and back', async () => {
  const reader = await visit(TOPICS);
  const {keyboard} = reader.page;
  const focused = (): Promise<string> => reader.page.evaluate(() => {
    const {activeElement: host} = document;
    const inside = host?.shadowRoot?.activeElement ?? host;
    return inside?.getAttribute('aria-label') ?? inside?.textContent?.trim() ?? '';
  });
  await keyboard.press('Tab');
  expect(await focused()).toBe('Skip to the text');
  await keyboard.press('Enter');
  await keyboard.press('/');
  await keyboard.type('what a node is');
  const wanted = reader.page.getByRole('option', {name: /^What a node is/});
  await wanted.waitFor();
  for (let n = 0; n < 8 && (await wanted.getAttribute('aria-selected')) !== 'true'; n += 1) await keyboard.press('ArrowDown');
  await keyboard.press('Enter');
  await reader.page.waitForURL(`**${NODES}#what-a-node-is`);
  // Selecting by keyboard begins where the reader's caret is.
  await reader.page.evaluate(() => {
    const text = document.querySelector('h2#what-a-node-is + p')?.lastChild;
    if (text) getSelection()?.setBaseAndExtent(text, 4, text, 5);
  });
  for (let n = 0; n < 20; n += 1) await keyboard.press('Shift+ArrowRight');
  await reader.toolbar.waitFor();
  await keyboard.press('Tab');
  for (let n = 0; n < 2; n += 1) await keyboard.press('ArrowRight'); // from Ask past Highlight: nothing explains this book
  expect(await focused()).toBe('Note');
  await keyboard.press('Enter');
  await reader.page.locator('.noted textarea').waitFor();
  await keyboard.type('By keyboard.');
  await keyboard.press('Escape');
  await eventually(focused, 'Note: By keyboard.', PATIENCE_MS);
  await keyboard.press('Control+i');
  await reader.panel.waitFor();
  await eventually(focused, 'Your question', PATIENCE_MS);
  await keyboard.type('Which delivery repeats lost messages?');
  await keyboard.press('Enter');
  await reader.finished.waitFor();
  await eventually(focused, 'The book', PATIENCE_MS);
  for (let n = 0; n < 12 && !(await focused()).includes('Quality of service'); n += 1) await keyboard.press('Tab');
  expect(await focused()).toContain('Quality of service');
  await keyboard.press('Enter');
  await reader.page.waitForURL(`**${TOPICS}#quality-of-service`);
  await eventually(async () => (await marked(reader)).length > 0, true, PATIENCE_MS);
  await keyboard.press('Escape');
  await eventually(() => reader.panel.isVisible(), false, PATIENCE_MS);
}, 90_000);
