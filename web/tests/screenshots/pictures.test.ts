/** Pictures of the sample book as its readers and teachers see it; not a test, but made by the same machinery. */

import {mkdirSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import type {Browser, BrowserContextOptions} from 'playwright-core';
import {afterAll, beforeAll, test} from 'vitest';
import {launch, Reader} from '../support/browser.ts';
import {RealServer} from '../support/real-server.ts';

const OUT = process.env['SCREENSHOTS'] ?? '../../docs/screenshots';
const CORPUS = fileURLToPath(new URL('../../../corpus', import.meta.url));
const TOKEN = 'a-password-for-pictures-only';
const BOOK = '/read/physical-ai';
const LOOP = `${BOOK}/01-part-1-foundations/01-chapter-1-embodied-intelligence/02-sensorimotor-loop`;
const TRANSFORMS = `${BOOK}/02-part-2-software/05-chapter-5-urdf-xacro/05-transforms`;
const WHEELS = `${BOOK}/04-part-4-perception-and-motion/09-chapter-9-navigation/04-planning-and-control`;
let browser: Browser;
let lutrin: RealServer;

beforeAll(async () => {
  mkdirSync(OUT, {recursive: true});
  lutrin = await RealServer.start({corpus: CORPUS, token: TOKEN, model: process.env['LUTRIN_MODEL'] ?? 'small'});
  browser = await launch();
}, 600_000);
afterAll(async () => {
  await browser.close();
  await lutrin.remove();
});

interface State {
  path: string;
  act?: (reader: Reader) => Promise<unknown>;
}

async function asked(reader: Reader, question: string): Promise<void> {
  await reader.open();
  await reader.ask(question);
}

const STATES: Record<string, State> = {
  shelf: {path: '/'},
  page: {path: LOOP},
  formulas: {path: WHEELS, act: (reader) => reader.page.locator('article math[display=block], article img').first().scrollIntoViewIfNeeded()},
  diagram: {path: TRANSFORMS, act: (reader) => reader.page.locator('article .diagram').first().scrollIntoViewIfNeeded()},
  search: {
    path: LOOP,
    act: async (reader) => {
      await reader.page.getByRole('searchbox').fill('how long does the battery last');
      await reader.page.keyboard.press('Enter');
      await reader.page.locator('.found a').first().waitFor();
    },
  },
  answer: {
    path: LOOP,
    act: async (reader) => {
      await asked(reader, 'What is the sensorimotor loop?');
      const cite = reader.widget.locator('.cite').first();
      await (reader.page.viewportSize()?.width === 390 ? cite.tap() : cite.hover());
      await reader.preview.waitFor();
    },
  },
  landed: {
    path: '/',
    act: async (reader) => {
      await asked(reader, 'What is the sensorimotor loop?');
      await reader.widget.locator('.source').first().click();
      const go = reader.preview.getByRole('link');
      if (await go.isVisible()) await go.click();
      await reader.page.waitForURL('**/read/**');
      await reader.page.waitForFunction(() => CSS.highlights.size > 0);
      await reader.page.waitForTimeout(600);
    },
  },
  selection: {
    path: LOOP,
    act: async (reader) => {
      await reader.select('article p');
      await reader.toolbar.waitFor();
    },
  },
  refusal: {path: LOOP, act: (reader) => asked(reader, 'Who won the last World Cup?')},
  error: {
    path: LOOP,
    act: async (reader) => {
      await reader.open();
      await reader.context.setOffline(true);
      await reader.ask('What is the sensorimotor loop?');
    },
  },
  teacher: {
    path: '/teacher',
    act: async (reader) => {
      await reader.page.locator('input[name=token]').fill(TOKEN);
      await reader.page.keyboard.press('Enter');
      await reader.page.locator('#books').waitFor();
    },
  },
};

for (const colorScheme of ['light', 'dark'] as const) {
  for (const [width, height] of [[1280, 800], [390, 760]] as const) {
    for (const [name, {path, act}] of Object.entries(STATES)) {
      test(`${name} ${width} ${colorScheme}`, async () => {
        const touch: BrowserContextOptions = width === 390 ? {hasTouch: true, isMobile: true} : {};
        const reader = await Reader.at(browser, lutrin.address, path, {colorScheme, viewport: {width, height}, ...touch});
        await act?.(reader);
        await reader.page.waitForTimeout(300);
        await reader.page.screenshot({path: `${OUT}/${name}-${width}-${colorScheme}.png`});
        await reader.close();
      });
    }
  }
}
