import type {Browser} from 'playwright-core';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {launch, Reader} from '../support/browser.ts';
import {classroom} from '../support/answers.ts';
import {eventually, harness} from '../support/harness.ts';
import {ScriptedServer} from '../support/scripted-server.ts';

const {server, reader: visit} = harness();
let browser: Browser;
let foreign: ScriptedServer;

beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());

/** The page of another site, whose widget asks at `api`. */
async function asksAt(api: string): Promise<Reader> {
  foreign = new ScriptedServer(api);
  const site = await foreign.listen();
  const reader = await Reader.at(browser, site, '/', {}, api);
  await reader.open();
  await reader.input.fill('What is a node?');
  await reader.input.press('Enter');
  await reader.answers.getByRole('alert').waitFor();
  return reader;
}

async function leave(reader: Reader): Promise<void> {
  await reader.close();
  await foreign.close();
}

test('a server that refuses the page’s origin is told apart, for the author, from one that is away', async () => {
  const other = new ScriptedServer();
  other.script = classroom;
  const address = await other.listen();
  const refused = await asksAt(address);
  const told = (reader: Reader): string => reader.consoleErrors.filter((text) => text.startsWith('lutrin-chat')).join();
  await eventually(() => told(refused).includes('LUTRIN_CORS_ORIGINS'), true);
  expect(told(refused)).toContain(new URL(refused.page.url()).origin);
  await leave(refused);
  await other.close();
  const away = await asksAt(address);
  await eventually(() => told(away).includes('no server answers'), true);
  expect(told(away)).toContain(address);
  expect(told(away)).not.toContain('LUTRIN_CORS_ORIGINS');
  await leave(away);
});

test('citations open beside the page where its author wants that, and else in it', async () => {
  const reader = await visit('/new-tab');
  await reader.open();
  await reader.ask('What is a node?');
  for (const link of ['.cite', '.place']) {
    const [opened] = await Promise.all([reader.context.waitForEvent('page'), reader.answers.locator(link).first().click()]);
    expect(opened.url()).toContain('#what-a-node-is');
    await opened.close();
  }
  expect(new URL(reader.page.url()).pathname).toBe('/new-tab');
  const plain = await visit();
  await plain.open();
  await plain.ask('What is a node?');
  expect(await plain.answers.locator('.cite').first().getAttribute('target')).toBeNull();
  expect(server.asked).toHaveLength(2);
});

test('the styles of a page do not reach into the widget, nor the widget’s into the page', async () => {
  const looks = (reader: Reader): Promise<unknown> =>
    reader.widget.evaluate((host) =>
      ['.panel', '.head h2', '.said .text', '.from-book blockquote p', '.actions button', 'textarea'].map((selector) => {
        const element = host.shadowRoot?.querySelector(selector);
        if (!element) throw new Error(selector);
        const {color, fontFamily, fontSize, fontStyle, letterSpacing, lineHeight, textTransform, textAlign, textIndent, wordSpacing, whiteSpace} = getComputedStyle(element);
        const {width, height} = element.getBoundingClientRect();
        return [color, fontFamily, fontSize, fontStyle, letterSpacing, lineHeight, textTransform, textAlign, textIndent, wordSpacing, whiteSpace, width, height];
      }),
    );
  const seen: unknown[] = [];
  for (const path of ['/', '/loud']) {
    const reader = await visit(path);
    const heading = (): Promise<unknown> => reader.page.locator('h1').evaluate((element) => JSON.stringify([getComputedStyle(element).font, element.getBoundingClientRect().toJSON()]));
    const before = await heading();
    await reader.open();
    await reader.ask('What is a node?');
    seen.push(await looks(reader));
    expect(await heading()).toEqual(before);
  }
  expect(seen[1]).toEqual(seen[0]);
});
