/** A reader's journeys against Lutrin itself: a page of another site, the real server, a real model. */

import {readFileSync} from 'node:fs';
import type {Browser} from 'playwright-core';
import {afterAll, afterEach, beforeAll, expect, test} from 'vitest';
import {wireTypes} from '../../widget/scripts/wire-types.mjs';
import type {Citation} from '../../widget/src/wire.ts';
import {launch, Reader} from '../support/browser.ts';
import {closed, eventually} from '../support/harness.ts';
import {freePort, RealServer} from '../support/real-server.ts';
import {ScriptedServer} from '../support/scripted-server.ts';

const NODES = '/read/lab/part-1/01-nodes';
const BOOK = new URL('../fixtures/lab/', import.meta.url);
let browser: Browser;
let lutrin: RealServer;
let site: ScriptedServer;
let origin = '';
const readers: Reader[] = [];

beforeAll(async () => {
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  lutrin = await RealServer.start({origin, deadline_s: 6, explain_s: 3});
  site = new ScriptedServer(lutrin.address);
  await site.listen(port);
  browser = await launch();
}, 240_000);

afterAll(async () => {
  await browser.close();
  await site.close();
  await lutrin.remove();
});

afterEach(() => closed(readers));

async function visit(path = NODES): Promise<Reader> {
  const reader = await Reader.at(browser, origin, path, {}, lutrin.address);
  readers.push(reader);
  return reader;
}

test('a question on the book is answered from it within ten seconds, with its place', async () => {
  const reader = await visit();
  await reader.open();
  const began_ms = Date.now();
  await reader.ask('What is a node?');
  expect(Date.now() - began_ms).toBeLessThan(10_000);
  expect(await reader.answers.locator('.text').innerText()).toContain('process that does one job');
  expect((await reader.answers.locator('.place').allInnerTexts()).join()).toContain('What a node is');
});

test('every source of an answer leads to a heading that the server has, and quotes it exactly', async () => {
  const reader = await visit();
  await reader.open();
  await reader.ask('Which delivery repeats lost messages?');
  const sources = await reader.widget.locator('a.place').evaluateAll((links) =>
    links.map((link) => (link as HTMLAnchorElement & {citation: Citation}).citation),
  );
  expect(sources.length).toBeGreaterThan(0);
  for (const {url, quote, filename} of sources) {
    const page = await fetch(lutrin.address + url);
    const [html, anchor] = [await page.text(), url.split('#')[1]];
    expect(page.status).toBe(200);
    if (anchor) expect(html).toContain(`id="${anchor}"`);
    expect(readFileSync(new URL(filename, BOOK), 'utf8')).toContain(quote);
  }
});

test('the shapes that the widget was built with are those that the server describes', async () => {
  const described: unknown = await (await fetch(`${lutrin.address}/schema/openapi.json`)).json();
  expect(wireTypes(described)).toBe(readFileSync(new URL('../../widget/src/schema.ts', import.meta.url), 'utf8'));
});

test('a question that the book does not answer gets the exact words', async () => {
  const reader = await visit();
  await reader.open();
  await reader.ask('What is the weather in Paris tomorrow?');
  expect(await reader.answers.locator('.text').innerText()).toBe("I couldn't find that in the book. Please check the relevant chapter.");
});

test('the conversation comes back after a reload and after a restart of the server', async () => {
  const reader = await visit();
  await reader.open();
  for (const question of ['What is a node?', 'What is a topic?', 'How long does a full battery last?']) await reader.ask(question);
  const before = await reader.widget.locator('.message .text').allInnerTexts();
  await reader.page.reload();
  await reader.questions.nth(2).waitFor();
  expect(await reader.widget.locator('.message .text').allInnerTexts()).toEqual(before);
  await lutrin.down();
  await reader.page.reload();
  await reader.widget.getByRole('alert').waitFor();
  await lutrin.up();
  await reader.button('Try again').click();
  await reader.questions.nth(2).waitFor();
  expect(await reader.widget.locator('.message .text').allInnerTexts()).toEqual(before);
}, 90_000);

test('a server that is gone: the inline words, the typed text kept, and on with it when it is back', async () => {
  const reader = await visit();
  await reader.open();
  await lutrin.down();
  await reader.ask('What is a node?');
  expect(await reader.answers.getByRole('alert').innerText()).toBe('Something went wrong. Please try again.');
  expect(await reader.input.inputValue()).toBe('What is a node?');
  await lutrin.up();
  await reader.input.press('Enter');
  await reader.finished.waitFor();
}, 90_000);

test('a selected passage alone is asked, and says when it has no answer', async () => {
  const reader = await visit();
  const chosen = async (): Promise<void> => {
    await reader.select('#definition');
    await reader.button('Ask').click();
    await reader.widget.getByLabel('Only this passage').check();
  };
  await chosen();
  await reader.ask('What is a node?');
  expect(await reader.answers.last().locator('.text').innerText()).toContain('one job');
  await chosen();
  await reader.ask('How long does a full battery last?');
  expect(await reader.answers.last().locator('.text').innerText()).toBe('The selected text does not contain the answer.');
  await reader.button('Search the whole book').click();
  await eventually(async () => (await reader.answers.last().innerText()).includes('90 minutes'), true, 10_000);
});

test('conversations are this browser’s own: listed, renamed, exported, deleted', async () => {
  const reader = await visit();
  await reader.open();
  await reader.ask('What is a node?');
  await reader.button('Helpful').click();
  await reader.button('New conversation').click();
  await reader.ask('What is a topic?');
  await reader.button('Conversations').click();
  await reader.widget.locator('.conversations .title').nth(1).waitFor();
  expect(await reader.widget.locator('.conversations .title').allInnerTexts()).toEqual(['What is a topic?', 'What is a node?']);
  await reader.button('Rename').first().click();
  await reader.widget.locator('input[name=title]').fill('On topics');
  await reader.page.keyboard.press('Enter');
  await eventually(() => reader.widget.locator('.conversations .title').first().innerText(), 'On topics');
  const [download] = await Promise.all([reader.page.waitForEvent('download'), reader.button('Export as Markdown').first().click()]);
  expect(download.suggestedFilename()).toMatch(/\.md$/);
  await reader.button('Delete').first().click();
  await reader.widget.locator('.confirm .danger').click();
  await eventually(() => reader.widget.locator('.conversations .title').allInnerTexts(), ['What is a node?']);
  const other = await visit();
  await other.open();
  await other.button('Conversations').click();
  await other.widget.getByText('No conversations yet.').waitFor();
});

test('the eleventh question in a minute waits exactly as long as the server says', async () => {
  const reader = await visit();
  await reader.open();
  for (let n = 1; n <= 10; n += 1) await reader.ask('What is a node?');
  await reader.input.fill('What is a topic?');
  await reader.input.press('Enter');
  await reader.widget.locator('.wait').waitFor();
  expect(await reader.widget.locator('.wait').innerText()).toMatch(/^You have asked many questions.* You can ask again in \d+ s\.$/);
  expect(await reader.button('Send').isDisabled()).toBe(true);
  expect(await reader.input.inputValue()).toBe('What is a topic?');
}, 90_000);
