/** Pictures of the sample book as its readers and teachers see it; not a test, but made by the same machinery. */

import {mkdirSync, readdirSync, rmSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import type {Browser, BrowserContextOptions} from 'playwright-core';
import {afterAll, beforeAll, test} from 'vitest';
import {launch, Reader} from '../support/browser.ts';
import {RealServer} from '../support/real-server.ts';

const OUT = process.env['SCREENSHOTS'] ?? '../../docs/screenshots';
const CORPUS = fileURLToPath(new URL('../../../corpus', import.meta.url));
/** Address of a server that has the sample books already; else one is started, with LUTRIN_ADMIN_TOKEN for the teacher. */
const RUNNING = process.env['SCREENSHOTS_OF'];
const TOKEN = process.env['LUTRIN_ADMIN_TOKEN'] ?? 'a-password-for-pictures-only';
const CHAPTER = '/read/physical-ai-textbook/01-part-1-foundations/01-chapter-1-embodied-intelligence/02-sensorimotor-loop';
const FORMULAS = '/read/physical-ai-textbook/01-part-1-foundations/03-chapter-3-actuators/02-motors-and-gears';
const TABS = '/read/physical-ai-textbook/02-part-2-software/04-chapter-4-ros-2/02-nodes-and-topics';
const PDF = '/read/robot-lab-safety-handbook/robot-lab-safety-handbook.pdf#6-motors-and-moving-parts';
/** An assignment on the first chapter. */
const CHOICE = '/teacher/assignments/new?book=physical-ai-textbook&chapter=0&cards=4&questions=4&kind=choice&kind=gap';
const QUESTION = 'What is the sensorimotor loop?';
/** Which a model has more to say about; taken where a model is in memory. */
const EXPLAINED = 'How is AI that only handles data different from AI that has a body?';
/** The paragraph that defines it. */
const SENTENCE = '#sensorimotor-loop + p';
const FEEDBACK = '#open-loop-and-closed-loop + p';
/** Narrower ones are telephones, with a finger in the place of a mouse. */
const WIDE_PX = 700;
/** The screen of a desk, a tablet on end, a telephone, and the narrowest one that is still in use. */
const SCREENS = [[1280, 800], [768, 1000], [390, 760], [320, 640]] as const;
/** Slow enough to see an answer being written, in bytes a second. */
const SLOW = 1200;
const PATIENCE_MS = 30_000;
const EXPLAINED_MS = 180_000;
let browser: Browser;
let lutrin: RealServer | undefined;
let base = '';
/** A model is in memory. */
let explains = false;

beforeAll(async () => {
  mkdirSync(OUT, {recursive: true});
  // The machine that takes pictures may be busy: the model has the time that it does not need on a quiet one.
  process.env['LUTRIN_DEADLINE_S'] ??= '20';
  // Pictures of states that are no more; the others are written anew, all or those that are asked for by name.
  for (const old of readdirSync(OUT)) if (/\.(png|webp)$/.test(old) && !((old.split('-')[0] ?? '') in STATES)) rmSync(`${OUT}/${old}`);
  if (!RUNNING) lutrin = await RealServer.start({corpus: CORPUS, token: TOKEN, model: process.env['LUTRIN_MODEL'] ?? 'none'});
  base = RUNNING ?? lutrin?.address ?? '';
  // What readers get while the model loads is true, but not what they usually see.
  await modelReady();
  browser = await launch();
}, 600_000);
afterAll(async () => {
  await browser?.close();
  await lutrin?.remove();
});

interface State {
  path: string;
  act?: (reader: Reader) => Promise<unknown>;
  /** What is shown goes on by itself: no time to let it settle. */
  moving?: true;
  /** Shown by a model alone. */
  model?: true;
  /** Taken on this screen alone, light: what one picture tells. */
  only?: number;
}

async function modelReady(): Promise<void> {
  for (const until_ms = Date.now() + 120_000; Date.now() < until_ms; ) {
    const {model, model_ready} = (await (await fetch(`${base}/ready`)).json()) as {model: string; model_ready: boolean};
    explains = model_ready;
    if (model_ready || !model) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error('the model did not become ready');
}

function isNarrow(reader: Reader): boolean {
  return (reader.page.viewportSize()?.width ?? 0) < WIDE_PX;
}

async function asked(reader: Reader, question: string): Promise<void> {
  await reader.open();
  await reader.ask(question);
}

async function selected(reader: Reader): Promise<void> {
  await reader.select(SENTENCE);
  await reader.toolbar.waitFor();
}

/** One passage highlighted, another with a note. */
async function noted(reader: Reader): Promise<void> {
  await selected(reader);
  await reader.button('Highlight').click();
  await reader.page.locator('.pin').waitFor();
  await reader.select(FEEDBACK);
  await reader.toolbar.waitFor();
  await reader.button('Note').click();
  await reader.page.locator('.noted textarea').fill('Our line follower is closed loop: it sees the line.');
  await reader.page.keyboard.press('Escape');
  await reader.page.locator('.pin.written').waitFor();
}

async function signedIn(reader: Reader): Promise<void> {
  await reader.page.locator('input[name=token]').fill(TOKEN);
  await reader.page.keyboard.press('Enter');
  await reader.page.locator('#books').waitFor();
}

/** The page of an assignment that the class has just got. */
async function handedOut(reader: Reader): Promise<void> {
  await signedIn(reader);
  await reader.page.goto(base + CHOICE);
  await reader.page.getByLabel('A word to the class').fill('Until Friday, please.');
  await reader.page.getByRole('button', {name: 'Hand it out'}).click();
  await reader.page.getByRole('heading', {name: 'How far they are'}).waitFor();
}

const STATES: Record<string, State> = {
  shelf: {path: '/'},
  chapter: {path: CHAPTER},
  formulas: {path: FORMULAS, act: (reader) => reader.page.locator('article math[display=block]').first().evaluate((formula) => formula.scrollIntoView({block: 'center', behavior: 'instant'}))},
  search: {
    path: CHAPTER,
    act: async (reader) => {
      await reader.page.keyboard.press('Control+k');
      await reader.page.getByRole('combobox').fill('quat');
      await reader.page.locator('.found a').first().waitFor();
    },
  },
  notes: {
    path: CHAPTER,
    act: async (reader) => {
      const notes = reader.page.locator('.notes').nth(1);
      await notes.locator('summary').first().click();
      await notes.evaluate((element) => element.scrollIntoView({block: 'center', behavior: 'instant'}));
    },
  },
  tabs: {path: TABS, act: (reader) => reader.page.locator('.tablist').first().evaluate((list) => list.scrollIntoView({block: 'center', behavior: 'instant'}))},
  pdf: {path: PDF},
  contents: {
    path: CHAPTER,
    act: async (reader) => {
      const opener = reader.page.locator('.to-contents');
      if (await opener.isVisible()) await opener.click();
    },
  },
  share: {
    path: CHAPTER,
    act: async (reader) => {
      await reader.page.getByRole('button', {name: 'Share this place'}).click();
      await reader.page.waitForFunction(() => document.querySelector<HTMLImageElement>('[data-shared-code]')?.naturalWidth);
    },
  },
  book: {path: '/read/physical-ai-textbook'},
  selection: {path: CHAPTER, act: selected},
  margin: {
    path: CHAPTER,
    act: async (reader) => {
      await noted(reader);
      await reader.page.locator('.pin').last().click();
      await reader.page.locator('.noted').waitFor();
    },
  },
  notebook: {
    path: CHAPTER,
    act: async (reader) => {
      await noted(reader);
      await reader.page.getByRole('button', {name: /^Highlights and notes/}).click();
    },
  },
  study: {path: '/study/physical-ai-textbook'},
  card: {
    path: '/study/physical-ai-textbook/deck?chapter=1',
    act: async (reader) => {
      await reader.page.getByRole('button', {name: 'Practise these cards'}).click();
      await reader.page.locator('.flash:visible summary').first().click();
      await reader.page.getByRole('button', {name: /^Good/}).waitFor();
    },
  },
  offline: {path: '/offline'},
  open: {
    path: CHAPTER,
    act: async (reader) => {
      await selected(reader);
      await reader.button('Ask').click();
      await reader.input.fill('Why does it never stop?');
    },
  },
  streaming: {
    path: CHAPTER,
    moving: true,
    act: async (reader) => {
      await reader.open();
      await reader.page.waitForTimeout(300);
      const network = await reader.context.newCDPSession(reader.page);
      await network.send('Network.emulateNetworkConditions', {offline: false, latency: 0, downloadThroughput: SLOW, uploadThroughput: -1});
      await reader.send(QUESTION);
      await reader.widget.locator('.from-book').waitFor();
    },
  },
  answer: {
    path: CHAPTER,
    act: async (reader) => {
      await asked(reader, QUESTION);
      const cite = reader.widget.locator('.cite').first();
      await (isNarrow(reader) ? cite.tap() : cite.hover());
      await reader.preview.waitFor();
    },
  },
  hint: {
    path: CHAPTER,
    only: 390,
    act: async (reader) => {
      await reader.page.getByRole('button', {name: 'Text size, colours and hints'}).tap();
      await reader.page.getByRole('radio', {name: 'First'}).check();
      await reader.page.reload();
      await asked(reader, QUESTION);
      await reader.button('A hint').tap();
      await reader.widget.locator('.hinted').getByText('_____').waitFor();
    },
  },
  back: {
    path: CHAPTER,
    only: 390,
    act: async (reader) => {
      await asked(reader, QUESTION);
      const back = reader.widget.locator('.ask-back');
      await back.locator('summary').tap();
      await back.evaluate((element) => element.scrollIntoView({block: 'center', behavior: 'instant'}));
    },
  },
  explaining: {
    path: CHAPTER,
    moving: true,
    model: true,
    act: async (reader) => {
      await asked(reader, 'Why is the sampling rate of a control loop important?');
      await reader.widget.locator('.progress, .chip:has-text("Explain it"), .plain').first().waitFor();
    },
  },
  explained: {
    path: CHAPTER,
    model: true,
    act: async (reader) => {
      await asked(reader, EXPLAINED);
      const words = reader.widget.locator('.plain .text');
      const offer = reader.widget.locator('.chip:has-text("Explain it")');
      await reader.widget.locator('.progress, .chip:has-text("Explain it"), .plain .text').first().waitFor();
      if (await offer.count()) await offer.click();
      await words.waitFor({timeout: EXPLAINED_MS});
      await words.evaluate((element) => element.scrollIntoView({block: 'nearest', behavior: 'instant'}));
    },
  },
  marked: {
    path: '/',
    act: async (reader) => {
      await asked(reader, QUESTION);
      const place = reader.widget.locator('.place').first();
      await (isNarrow(reader) ? place.tap() : place.click());
      await reader.page.waitForURL('**/read/**');
      await reader.page.waitForFunction(() => CSS.highlights.size > 0);
      await reader.page.waitForTimeout(600);
    },
  },
  refusal: {path: CHAPTER, act: (reader) => asked(reader, 'Who won the last World Cup?')},
  error: {
    path: CHAPTER,
    act: async (reader) => {
      await reader.open();
      await reader.context.setOffline(true);
      await reader.ask(QUESTION);
    },
  },
  teacher: {path: '/teacher', act: signedIn},
  choosing: {path: '/teacher', act: async (reader) => {
    await signedIn(reader);
    await reader.page.goto(base + CHOICE);
    await reader.page.locator('#hand-out').evaluate((part) => part.scrollIntoView({behavior: 'instant'}));
  }},
  results: {path: '/teacher', act: async (reader) => {
    await handedOut(reader);
    await reader.page.locator('.tally').waitFor();
  }},
  assignment: {path: '/teacher', act: async (reader) => {
    await handedOut(reader);
    await reader.page.goto(base + ((await reader.page.getByRole('link', {name: 'Open it'}).first().getAttribute('href')) ?? ''));
    await reader.page.getByRole('button', {name: /^I have read it/}).first().click();
  }},
};

for (const [width, height] of SCREENS) {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [name, {path, act, moving, model, only}] of Object.entries(STATES)) {
      if (only && (only !== width || colorScheme === 'dark')) continue;
      test(`${name} ${width} ${colorScheme}`, async ({skip}) => {
        skip(Boolean(model) && !explains, 'no model');
        const touch: BrowserContextOptions = width < WIDE_PX ? {hasTouch: true, isMobile: true} : {};
        const reader = await Reader.at(browser, base, path, {colorScheme, viewport: {width, height}, ...touch});
        reader.page.setDefaultTimeout(PATIENCE_MS);
        await act?.(reader);
        if (!moving) await reader.page.waitForTimeout(400);
        await reader.page.screenshot({path: `${OUT}/${name}-${width}-${colorScheme}.png`});
        await reader.close();
      }, model ? 2 * EXPLAINED_MS : 2 * PATIENCE_MS);
    }
  }
}
