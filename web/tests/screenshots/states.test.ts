/** Pictures of every state of the widget, at two widths, light and dark; not a test, but run by the same machinery. */

import {mkdirSync} from 'node:fs';
import type {Browser} from 'playwright-core';
import {afterAll, beforeAll, test} from 'vitest';
import {classroom} from '../support/answers.ts';
import {launch, Reader} from '../support/browser.ts';
import {ScriptedServer} from '../support/scripted-server.ts';

const OUT = process.env['SCREENSHOTS'] ?? '../../docs/screenshots';
const server = new ScriptedServer();
let browser: Browser;
let base: string;

beforeAll(async () => {
  mkdirSync(OUT, {recursive: true});
  base = await server.listen();
  browser = await launch();
});
afterAll(async () => {
  await browser.close();
  await server.close();
});

const STATES: Record<string, (reader: Reader) => Promise<unknown>> = {
  closed: async () => undefined,
  open: (reader) => reader.open(),
  answered: async (reader) => {
    await reader.open();
    await reader.ask('What is a node?');
    await reader.answers.last().getByRole('button', {name: 'Helpful', exact: true}).click();
  },
  preview: async (reader) => {
    await reader.open();
    await reader.ask('What is a node?');
    const cite = reader.widget.locator('.cite').first();
    if (reader.page.viewportSize()?.width === 390) await cite.tap();
    else await cite.hover();
    await reader.preview.waitFor();
  },
  streaming: async (reader) => {
    await reader.open();
    await reader.send('A slow one: what is a node?');
    await reader.widget.locator('.text').last().waitFor();
  },
  queued: async (reader) => {
    await reader.open();
    await reader.send('Is there a queue?');
    await reader.widget.getByText('3 readers are before you').waitFor();
  },
  error: async (reader) => {
    await reader.open();
    await reader.ask('Something broken');
  },
  limited: async (reader) => {
    await reader.open();
    await reader.ask('How often may I ask?');
  },
  refusal: async (reader) => {
    await reader.open();
    await reader.ask('What is the weather like?');
  },
  toolbar: async (reader) => {
    await reader.select('#first');
    await reader.toolbar.waitFor();
  },
  selection: async (reader) => {
    await reader.select('#first');
    await reader.button('Ask').click();
    await reader.ask('How does this relate to motion control?');
  },
  conversations: async (reader) => {
    await reader.open();
    await reader.ask('What is a node?');
    await reader.button('New conversation').click();
    await reader.ask('What is the difference between reliable delivery and best effort on a topic?');
    await reader.button('Conversations').click();
    await reader.widget.locator('.conversations').waitFor();
  },
  landed: async (reader) => {
    await reader.open();
    await reader.ask('What is a node?');
    const source = reader.widget.locator('.source').first();
    await source.click();
    if (await reader.preview.getByRole('link').isVisible()) await reader.preview.getByRole('link').click();
    await reader.page.waitForFunction(() => CSS.highlights.size > 0);
    await reader.page.waitForTimeout(400);
  },
  rtl: async (reader) => {
    await reader.page.goto(`${base}/rtl`);
    await reader.open();
    await reader.ask('ما هي العقدة؟');
  },
};

for (const colorScheme of ['light', 'dark'] as const) {
  for (const [width, height] of [[1280, 800], [390, 800]] as const) {
    for (const [name, act] of Object.entries(STATES)) {
      test(`${name} ${width} ${colorScheme}`, async () => {
        server.reset();
        server.script = classroom;
        const touch = width === 390 ? {hasTouch: true, isMobile: true} : {};
        const reader = await Reader.at(browser, base, '/read/lab/part-1/01-nodes', {colorScheme, viewport: {width, height}, ...touch});
        await act(reader);
        await reader.page.waitForTimeout(250);
        await reader.page.screenshot({path: `${OUT}/widget-${name}-${width}-${colorScheme}.png`});
        await reader.close();
      });
    }
  }
}
