/** The two journeys that every run of the tests makes: the first visit and question; a citation and back; axe looks on. */

import type {Browser} from 'playwright-core';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {axeFindings} from '../support/axe.ts';
import {launch, Reader} from '../support/browser.ts';
import {RealServer} from '../support/real-server.ts';

const TOPICS = '/read/lab/01-basics/02-topics';
let browser: Browser;
let lutrin: RealServer;

beforeAll(async () => {
  lutrin = await RealServer.start({model: 'none'});
  browser = await launch();
}, 240_000);

afterAll(async () => {
  await browser.close();
  await lutrin.remove();
});

test('first visit and question: from the shelf to a page, and an answer by keyboard', async () => {
  const reader = await Reader.at(browser, lutrin.address, '/');
  await reader.page.getByRole('link', {name: 'Topics', exact: true}).click();
  await reader.page.waitForURL(`**${TOPICS}`);
  await reader.open();
  await reader.page.keyboard.type('What is a node?');
  await reader.page.keyboard.press('Enter');
  await reader.finished.waitFor();
  expect(await reader.answers.innerText()).toContain('process that does one job');
  expect(await axeFindings(reader, 'lutrin-chat')).toEqual([]);
  await leave(reader);
}, 90_000);

test('follow a citation and back: to the page that answers with the passage marked, and to where one was', async () => {
  const reader = await Reader.at(browser, lutrin.address, TOPICS);
  await reader.open();
  await reader.ask('What is a node?');
  await reader.widget.locator('.from-book .place').first().click();
  await reader.page.waitForURL('**/read/lab/01-basics/01-nodes#what-a-node-is');
  await reader.page.waitForFunction(() => CSS.highlights.has('lutrin-passage'));
  await reader.questions.first().waitFor();
  expect(await axeFindings(reader, 'html')).toEqual([]);
  await reader.page.goBack();
  await reader.page.waitForURL(`**${TOPICS}`);
  await reader.questions.first().waitFor();
  expect(await reader.answers.innerText()).toContain('process that does one job');
  await leave(reader);
}, 90_000);

async function leave(reader: Reader): Promise<void> {
  const {violations, foreign} = reader;
  await reader.close();
  expect({violations, foreign}).toEqual({violations: [], foreign: []});
}
