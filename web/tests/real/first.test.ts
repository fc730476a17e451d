/** The one journey that every run of the tests makes: read a page, ask by keyboard, follow the citation; axe looks on. */

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

test('a reader asks on a page of the book and is led to the page that answers', async () => {
  const reader = await Reader.at(browser, lutrin.address, TOPICS);
  await reader.open();
  await reader.page.keyboard.type('What is a node?');
  await reader.page.keyboard.press('Enter');
  await reader.widget.locator('.message.book[aria-busy="false"]').waitFor();
  expect(await reader.answers.innerText()).toContain('process that does one job');
  expect(await axeFindings(reader, 'lutrin-chat')).toEqual([]);
  await reader.widget.locator('.from-book .place').first().click();
  await reader.page.waitForURL('**/read/lab/01-basics/01-nodes#what-a-node-is');
  await reader.questions.first().waitFor();
  expect(await axeFindings(reader, 'html')).toEqual([]);
  const {violations, foreign} = reader;
  await reader.close();
  expect({violations, foreign}).toEqual({violations: [], foreign: []});
}, 90_000);
