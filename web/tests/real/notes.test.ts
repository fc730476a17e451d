/** Highlights and notes of one browser: made, shown again, listed, exported, deleted, and found again in a book read anew. */

import {cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import type {Browser, Locator} from 'playwright-core';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {axeFindings} from '../support/axe.ts';
import {launch, Reader} from '../support/browser.ts';
import {eventually} from '../support/harness.ts';
import {RealServer} from '../support/real-server.ts';

const NODES = '/read/lab/01-basics/01-nodes';
const DEFINITION = 'article h2#what-a-node-is + p';
const PATIENCE_MS = 15_000;
const corpus = mkdtempSync(join(tmpdir(), 'lutrin-notes-'));
let browser: Browser;
let lutrin: RealServer;
let reader: Reader;
let notebook: Locator;

beforeAll(async () => {
  cpSync(fileURLToPath(new URL('../fixtures', import.meta.url)), corpus, {recursive: true});
  lutrin = await RealServer.start({corpus, model: 'none'});
  browser = await launch();
  reader = await Reader.at(browser, lutrin.address, NODES, {acceptDownloads: true});
  reader.page.setDefaultTimeout(PATIENCE_MS);
  notebook = reader.page.getByRole('dialog', {name: 'Highlights and notes'});
}, 240_000);

afterAll(async () => {
  await browser.close();
  await lutrin.remove();
  rmSync(corpus, {recursive: true});
});

/** What the page shows as marked, one passage a line. */
function marked(): Promise<string[]> {
  return reader.page.evaluate(() => [...(CSS.highlights.get('lutrin-notes') ?? [])].map((range) => (range as Range).toString().replace(/\s+/g, ' ')).sort());
}

function chooses(name: string): Promise<void> {
  return reader.button(name).click();
}

async function listed(): Promise<void> {
  await reader.page.getByRole('button', {name: /^Highlights and notes/}).click();
  await notebook.waitFor();
}

/** The words of a page of the book are others now. */
async function rewrite(file: string, from: string, to: string, shown = to): Promise<void> {
  const path = join(corpus, 'lab/01-basics', file);
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
  await lutrin.ingest(corpus);
  // The server looks for a new index once a second; till then it shows the old one.
  await eventually(async () => (await (await fetch(lutrin.address + NODES)).text()).includes(shown), true, PATIENCE_MS);
}

test('a passage is highlighted, another gets a note, and both are there after a reload', async () => {
  await reader.select(DEFINITION);
  await chooses('Highlight');
  await reader.page.getByText('Highlighted. Only this browser keeps it.').waitFor();
  await reader.select('article h2#starting-a-node + p');
  await chooses('Note');
  await reader.page.getByLabel('Your note', {exact: true}).last().fill('Try this on the robot *today*.');
  expect(await axeFindings(reader, 'html')).toEqual([]);
  await reader.page.keyboard.press('Escape');
  const both = await marked();
  expect(both).toEqual([expect.stringContaining('process that does one job'), expect.stringContaining('ros2 run')].sort());
  await reader.page.reload();
  await eventually(marked, both, PATIENCE_MS);
  expect(await reader.page.getByRole('button', {name: 'Note: Try this on the robot *today*.'}).count()).toBe(1);
}, 90_000);

test('the note opens again by keyboard, and what is changed in it is kept', async () => {
  await reader.page.locator('.pin.written').focus();
  await reader.page.keyboard.press('Enter');
  await reader.page.keyboard.press('End');
  await reader.page.keyboard.type(' Done.');
  await reader.page.getByRole('button', {name: 'Done', exact: true}).click();
  await reader.page.getByRole('button', {name: 'Note: Try this on the robot *today*. Done.'}).waitFor();
});

test('all are listed in the order of the book, lead to their places, and leave as a Markdown file', async () => {
  await listed();
  expect(await notebook.locator('blockquote').count()).toBe(2);
  expect(await axeFindings(reader, 'dialog[open]')).toEqual([]);
  const [file] = await Promise.all([reader.page.waitForEvent('download'), notebook.getByRole('button', {name: 'Export as Markdown'}).click()]);
  expect(file.suggestedFilename()).toBe('lab-notes.md');
  const text = readFileSync((await file.path())!, 'utf8');
  expect(text).toMatch(/^# Notes on The Lab Book\n\n## Nodes\n\n> .*process that does one job/);
  expect(text).toContain('Try this on the robot *today*. Done.');
  expect(text).toContain(`[What a node is](${lutrin.address}${NODES}#what-a-node-is)`);
  await notebook.getByRole('link', {name: /process that does one job/}).click();
  await eventually(() => reader.page.evaluate(() => document.activeElement?.className), 'pin', PATIENCE_MS);
  await reader.page.goto(`${lutrin.address}/read/lab`);
  await listed();
  await notebook.getByRole('link', {name: /process that does one job/}).click();
  await reader.page.waitForURL(`**${NODES}#note=*`);
  await eventually(() => reader.page.evaluate(() => document.activeElement?.className), 'pin', PATIENCE_MS);
}, 90_000);

test('in a book that was read anew they stand where their words stand, and those that are gone are told', async () => {
  await rewrite('01-nodes.md', '# Nodes\n', '# Nodes\n\nA paragraph that nobody had written before: a node is new here.\n', 'A paragraph that nobody');
  await reader.page.goto(`${lutrin.address}${NODES}`);
  await reader.page.getByText('A paragraph that nobody had written before').waitFor();
  expect(await marked()).toHaveLength(2);
  await rewrite('01-nodes.md', 'process that does one job', 'program with a single task');
  await reader.page.reload();
  await reader.page.locator('article p', {hasText: 'program with a single task'}).waitFor();
  await eventually(async () => (await marked()).length, 1, PATIENCE_MS);
  await reader.page.goto(`${lutrin.address}/read/lab/01-basics/02-topics`);
  await listed();
  await notebook.getByText('These words are no longer on this page.').waitFor();
  expect(await notebook.getByText('These words are no longer on this page.').count()).toBe(1);
  rmSync(join(corpus, 'lab/01-basics/01-nodes.md'));
  await lutrin.ingest(corpus);
  await eventually(async () => (await fetch(lutrin.address + NODES)).status, 404, PATIENCE_MS);
  await reader.page.reload();
  await listed();
  await eventually(() => notebook.getByText('This page is no longer in the book.').count(), 2, PATIENCE_MS);
}, 240_000);

test('one is deleted and taken back, all are deleted, and none is left in this browser; no request told the server', async () => {
  await notebook.getByRole('button', {name: 'Delete', exact: true}).first().click();
  expect(await notebook.locator('blockquote').count()).toBe(1);
  await notebook.getByRole('button', {name: 'Undo'}).click();
  expect(await notebook.locator('blockquote').count()).toBe(2);
  await notebook.getByRole('button', {name: 'Delete all'}).click();
  await notebook.getByRole('button', {name: 'Delete all for good?'}).click();
  await notebook.getByText('Nothing yet.').waitFor();
  expect(await reader.page.evaluate(() => localStorage.getItem('lutrin:notes:lab'))).toBe(null);
  expect({violations: reader.violations, foreign: reader.foreign}).toEqual({violations: [], foreign: []});
});
