/** The built-in reader, served by Lutrin itself: reading, searching, asking, following, coming back. */

import type {Browser, BrowserContextOptions} from 'playwright-core';
import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest';
import type {Citation} from '../../widget/src/wire.ts';
import {axeFindings} from '../support/axe.ts';
import {launch, Reader} from '../support/browser.ts';
import {FlakyWire} from '../support/flaky.ts';
import {closed, eventually} from '../support/harness.ts';
import {RealServer} from '../support/real-server.ts';

const NODES = '/read/lab/01-basics/01-nodes';
const TOPICS = '/read/lab/01-basics/02-topics';
/** What a page needs on two busy cores. */
const SOON = {timeout: 8000};
const WHEELS = '/read/lab/01-basics/04-wheels';
let browser: Browser;
let lutrin: RealServer;
let wire: FlakyWire;
let base = '';
const readers: Reader[] = [];

beforeAll(async () => {
  lutrin = await RealServer.start({deadline_s: 6, explain_s: 4});
  wire = new FlakyWire(lutrin.address);
  base = await wire.listen();
  browser = await launch();
}, 240_000);

afterAll(async () => {
  await browser.close();
  await wire.close();
  await lutrin.remove();
});

afterEach(() => closed(readers));

async function visit(path = NODES, options: BrowserContextOptions = {}): Promise<Reader> {
  const reader = await Reader.at(browser, base, path, options);
  readers.push(reader);
  return reader;
}

/** The text that is marked in the page. */
function marked(reader: Reader): Promise<string> {
  return reader.page.evaluate(() => {
    const [range] = CSS.highlights.get('lutrin-passage') ?? [];
    const content = (range as Range | undefined)?.cloneContents() ?? document.createDocumentFragment();
    // Of a formula what its author typed, as in the quote.
    for (const drawn of content.querySelectorAll('semantics > :not(annotation)')) drawn.remove();
    return content.textContent ?? '';
  });
}

/** Read on at the section on motion, and say how far down it is. */
function atMotion(reader: Reader): Promise<number> {
  return reader.page.locator('#how-a-command-becomes-motion').evaluate((heading) => {
    heading.scrollIntoView({behavior: 'instant'});
    return scrollY;
  });
}

/** How far down the page is once the frames of a scroll have passed. */
function scrolled(reader: Reader): Promise<number> {
  return reader.page.evaluate(async () => {
    for (let still = 0, last_px = scrollY; still < 30; last_px = scrollY) {
      await new Promise(requestAnimationFrame);
      still = scrollY === last_px ? still + 1 : 0;
    }
    return scrollY;
  });
}

/** Open the box from wherever the reader is, and type. */
async function seek(reader: Reader, words: string): Promise<void> {
  await reader.page.keyboard.press('Control+k');
  await reader.page.getByRole('combobox').fill(words);
}

/** Only what is said, as a mark and a quote have it in common. */
function letters(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

test('select a sentence, ask, follow the citation, reload, go on', async () => {
  const reader = await visit('/');
  await reader.page.getByRole('link', {name: 'Topics', exact: true}).click();
  await reader.page.waitForURL(`**${TOPICS}`);
  await reader.select('article h2 + p');
  await reader.button('Ask').click();
  expect(await reader.widget.locator('.selection blockquote').innerText()).toContain('Reliable delivery repeats');
  await reader.ask('What does reliable delivery repeat?');
  expect(await reader.answers.last().innerText()).toContain('every message that was lost');
  await reader.ask('What is a node?');
  await reader.answers.last().locator('.place').first().click();
  await reader.page.waitForURL(`**${NODES}#what-a-node-is`);
  await expect.poll(() => marked(reader), SOON).toContain('process that does one job');
  await reader.page.reload();
  await reader.questions.nth(1).waitFor();
  await reader.ask('What does a planner node do?');
  expect(await reader.questions.count()).toBe(3);
});

test('every citation of every answer lands on its heading with the passage marked and in view', async () => {
  const reader = await visit();
  await reader.open();
  for (const question of ['What is a node?', 'Which delivery repeats lost messages?', 'How long does a full battery last?', 'What is the torque of a wheel?', 'What does slip do?']) {
    await reader.ask(question);
  }
  // A chip that leads to the section's cards marks nothing.
  const places = reader.widget.locator('a.place:not(.chip)');
  const cited = await places
    .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement & {citation: Citation}).citation));
  expect(cited.length).toBeGreaterThanOrEqual(5);
  expect(cited.map(({section_title}) => section_title)).toContain('Torque of a wheel');
  for (const [index, {url, quote}] of cited.entries()) {
    expect(quote, url).not.toBe('');
    await places.nth(index).evaluate((element: HTMLElement) => element.click());
    await reader.page.waitForURL(`${base}${url}`);
    await expect.poll(async () => letters(await marked(reader)).slice(0, 16), SOON).toBe(letters(quote.replace(/\{#.*?\}/g, '')).slice(0, 16));
    const inView = () =>
      reader.page.evaluate(() => {
        const [range] = CSS.highlights.get('lutrin-passage') ?? [];
        const box = (range as Range).getBoundingClientRect();
        return box.bottom > 0 && box.top < innerHeight;
      });
    await expect.poll(inView, {...SOON, message: url}).toBe(true);
    // Those of one page are followed in quick succession; before it is left, the last must be more than a glimpse.
    if (cited[index + 1]?.url.split('#')[0] !== url.split('#')[0]) {
      const {top, bottom, height} = await reader.passageAtRest();
      expect(top, url).toBeGreaterThanOrEqual(0);
      expect(bottom, url).toBeLessThanOrEqual(height);
    }
    await reader.questions.first().waitFor();
  }
}, 90_000);

test('a citation of a formula marks the formula where it is drawn', async () => {
  const reader = await visit(WHEELS);
  await reader.page.evaluate((path) => {
    const link = Object.assign(document.createElement('a'), {href: `${path}#torque-of-a-wheel`, textContent: 'a formula'});
    link.dataset['lutrinQuote'] = '$$\n\\tau = 2 \\frac{P}{\\omega}\n$$';
    document.querySelector('article')?.append(link);
  }, WHEELS);
  await reader.page.getByRole('link', {name: 'a formula'}).click();
  const height = (): Promise<number> =>
    reader.page.evaluate(() => {
      const [range] = CSS.highlights.get('lutrin-passage') ?? [];
      return (range as Range | undefined)?.getBoundingClientRect().height ?? 0;
    });
  await expect.poll(height, SOON).toBeGreaterThan(20);
});

test('a passage in a folded part of the page is unfolded for who follows a citation to it', async () => {
  const reader = await visit(WHEELS);
  await reader.open();
  await reader.ask('Why does odometry grow wrong on a wet floor?');
  await reader.answers.locator('.place[href*="04-wheels"]').first().click();
  await expect.poll(() => marked(reader), SOON).toContain('Slip makes the wheel turn further');
  expect(await reader.page.locator('details', {hasText: 'What slip does'}).evaluate((details: HTMLDetailsElement) => details.open)).toBe(true);
});

test('half a word leads to its section with the passage marked, by keyboard alone', async () => {
  const reader = await visit(NODES);
  const box = reader.page.getByRole('combobox');
  await reader.page.keyboard.press('/');
  await reader.page.keyboard.type('charg');
  await reader.page.getByRole('option', {name: /^Charging/}).waitFor();
  expect(await box.getAttribute('aria-expanded')).toBe('true');
  await reader.page.keyboard.press('ArrowDown');
  const chosen = reader.page.locator(`[id="${await box.getAttribute('aria-activedescendant')}"]`);
  expect([await chosen.getAttribute('aria-selected'), await chosen.innerText()]).toEqual(['true', expect.stringContaining('Charging')]);
  expect(await chosen.locator('mark').first().innerText()).toBe('Charging');
  await reader.page.keyboard.press('Enter');
  await reader.page.waitForURL('**/03-batteries#charging');
  await expect.poll(() => marked(reader), SOON).toContain('Charge the battery at 5 A');
});

test('a slip of the keyboard is forgiven, and what the book lacks is said', async () => {
  const reader = await visit(NODES);
  await seek(reader, 'chraging');
  await reader.page.getByRole('option', {name: /^Charging/}).waitFor();
  await reader.page.getByRole('combobox').fill('xylophone');
  await reader.page.getByText('Nothing in the book is near that.').waitFor();
  expect(await reader.page.getByRole('option').allInnerTexts()).toEqual([expect.stringContaining('xylophone')]);
  await reader.page.keyboard.press('Escape');
  expect(await reader.page.getByRole('dialog', {name: 'Search or ask'}).isVisible()).toBe(false);
});

test('the box asks with Enter, and the panel answers', async () => {
  const reader = await visit('/');
  await reader.page.keyboard.press('Control+k');
  await reader.page.keyboard.type('What is a node?');
  await reader.page.getByRole('option', {name: /Ask:/}).waitFor();
  await reader.page.keyboard.press('Enter');
  await reader.finished.waitFor();
  expect(await reader.answers.innerText()).toContain('process that does one job');
  expect(await reader.page.getByRole('combobox').inputValue()).toBe('');
});

test('nothing moves when the search box appears', async () => {
  for (const viewport of [{width: 1280, height: 800}, {width: 360, height: 740}]) {
    const reader = await visit(NODES, {viewport});
    await reader.page.getByRole('button', {name: 'Search or ask'}).waitFor();
    const moved = await reader.page.evaluate(
      () => new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntries().length)).observe({type: 'layout-shift', buffered: true}) ?? setTimeout(() => resolve(0), 500)),
    );
    expect(moved).toBe(0);
  }
});

test('what was found shows formulas as they are read, without the signs that they are typed with', async () => {
  const reader = await visit(NODES);
  await seek(reader, 'torque of a wheel');
  const found = reader.page.locator('.found a', {hasText: 'Torque of a wheel'}).first();
  expect(await found.innerText()).toContain('The torque of a wheel is τ = F r, where F is the force');
});

test('formulas, pictures, diagrams, code and tables are drawn from this server alone', async () => {
  const reader = await visit(WHEELS);
  const article = reader.page.locator('article');
  expect(await article.locator('math').count()).toBe(3);
  expect(await article.locator('math[display=block] mfrac').isVisible()).toBe(true);
  const picture = article.getByRole('img', {name: 'Force at the rim of a wheel'});
  await picture.scrollIntoViewIfNeeded();
  await eventually(() => picture.evaluate((image: HTMLImageElement) => image.complete && image.naturalWidth), 240);
  expect(await article.locator('.missing-image').innerText()).toBe('A picture that nobody drew');
  expect(await article.locator('.diagram svg text').allTextContents()).toEqual(['Command', 'Controller', 'Motor', '20 Hz']);
  const keyword = article.locator('pre .k').first();
  expect(await keyword.innerText()).toBe('def');
  expect(await keyword.evaluate((word) => getComputedStyle(word).color)).not.toBe(await article.evaluate((text) => getComputedStyle(text).color));
  expect(await reader.page.evaluate(() => 'pwned' in window)).toBe(false);
  const alone = await reader.page.goto(`${base}/picture/0/lab/01-basics/04-wheels`);
  expect(alone?.headers()['content-security-policy']).toContain('sandbox');
  expect(await reader.page.evaluate(() => 'pwned' in window)).toBe(false);
  reader.violations.length = 0; // the browser says that it refused the script
  await reader.page.goto(base + TOPICS);
  expect(await reader.page.locator('article td').allInnerTexts()).toContain('sent again');
});

test('without JavaScript the book can be read, leafed through and looked at', async () => {
  const reader = await visit('/', {javaScriptEnabled: false});
  await reader.page.getByRole('link', {name: 'Nodes', exact: true}).click();
  expect(await reader.page.locator('h1').innerText()).toBe('Nodes');
  await reader.page.getByRole('searchbox').fill('charging');
  await reader.page.keyboard.press('Enter');
  await reader.page.locator('.list a').first().click();
  await reader.page.waitForURL('**/03-batteries#charging');
  await reader.page.goto(base + NODES);
  await reader.page.locator('a[rel=next]').click();
  expect(await reader.page.locator('h1').innerText()).toBe('Topics');
  await reader.page.locator('a[rel=prev]').click();
  await reader.page.getByRole('navigation', {name: 'Contents'}).getByRole('link', {name: 'Starting a node'}).click();
  expect(new URL(reader.page.url()).hash).toBe('#starting-a-node');
  await reader.page.goto(base + WHEELS);
  expect(await reader.page.locator('math').count()).toBe(3);
  expect(await reader.page.locator('.diagram svg').isVisible()).toBe(true);
});

test('a wrong address shows a page that leads to the books, also without JavaScript', async () => {
  for (const path of ['/read/no-such-book', '/read/lab/no-such-page', '/nonsense']) {
    const reader = await visit('/', {javaScriptEnabled: false});
    const response = await reader.page.goto(base + path);
    expect([response?.status(), await response?.headerValue('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(await reader.page.locator('h1').innerText()).toBe('Page not found');
    await reader.page.getByRole('link', {name: 'To the books'}).click();
    await reader.page.getByRole('link', {name: 'Nodes', exact: true}).waitFor();
  }
});

test('from a wrong address the search leads into the book', async () => {
  const reader = await visit('/read/lab/no-such-page');
  await seek(reader, 'charging');
  await reader.page.locator('.found a').first().click();
  await reader.page.waitForURL('**/03-batteries#charging');
});

test('the shelf knows where the reader left off, however soon the page is left', async () => {
  const reader = await visit(WHEELS, {viewport: {width: 1280, height: 400}});
  await atMotion(reader);
  await reader.page.getByRole('link', {name: 'The Lab Book'}).click();
  await reader.page.getByRole('link', {name: 'Continue reading Wheels'}).click();
  await reader.page.waitForURL(`**${WHEELS}#how-a-command-becomes-motion`);
});

test('the keyboard in the bar leaves the page where it is', async () => {
  const reader = await visit(WHEELS, {viewport: {width: 1280, height: 400}});
  const place_px = await atMotion(reader);
  for (const part of ['Skip to the text', 'The Lab Book', 'Search or ask']) {
    await reader.page.keyboard.press('Tab');
    await eventually(() => reader.page.evaluate(() => document.activeElement?.textContent), expect.stringContaining(part) as string);
    expect(await scrolled(reader)).toBe(place_px);
  }
});

test('the lines of the page break where they did when the chat is opened, and its contents stay within reach', async () => {
  const reader = await visit(WHEELS);
  const width = (): Promise<number> => reader.page.locator('article').evaluate((text) => text.clientWidth);
  const before = await width();
  await reader.open();
  await eventually(() => reader.page.locator('html').getAttribute('data-lutrin-open'), '');
  expect(await width()).toBe(before);
  const bar = await reader.page.locator('header.top').boundingBox();
  expect(bar?.width).toBe(await reader.page.evaluate(() => document.documentElement.clientWidth));
  await reader.page.getByRole('button', {name: 'Contents'}).click();
  await reader.page.getByRole('dialog', {name: 'Contents'}).getByRole('link', {name: 'Nodes', exact: true}).click();
  await reader.page.waitForURL(`**${NODES}`);
});

test('an open chat covers no line of the page, and its printed form is the text alone', async () => {
  const reader = await visit(WHEELS);
  await reader.open();
  await eventually(async () => {
    const [panel, text] = await Promise.all([reader.panel.boundingBox(), reader.page.locator('article').boundingBox()]);
    return panel !== null && text !== null && text.x + text.width <= panel.x;
  }, true);
  await reader.page.emulateMedia({media: 'print'});
  for (const part of ['lutrin-chat', '.aside', '.top', '.turn']) expect(await reader.page.locator(part).isVisible()).toBe(false);
  expect(await reader.page.locator('article').isVisible()).toBe(true);
  expect(await reader.page.locator('.imprint').innerText()).toContain(`The Lab Book, Test Edition. Wheels. ${base}${WHEELS}`);
});

test('a page that is set to dark is printed black on white, its diagrams and worksheets as well', async () => {
  for (const path of [WHEELS, '/study/lab/worksheet']) {
    const reader = await visit(path, {colorScheme: 'dark'});
    await reader.page.evaluate(() => localStorage.setItem('lutrin:theme', 'dark'));
    await reader.page.reload();
    const colours = (): Promise<string[]> =>
      reader.page.evaluate(() => {
        const ink = (element: Element): string => (element instanceof SVGElement ? getComputedStyle(element).fill : getComputedStyle(element).color);
        const words = [...document.querySelectorAll('main h1, main p, main li, .diagram text')].filter((element) => element.getClientRects().length);
        return [...new Set([getComputedStyle(document.body).backgroundColor, ...words.map(ink)])].sort();
      });
    expect((await colours()).join()).not.toContain('rgb(0, 0, 0)');
    await reader.page.emulateMedia({media: 'print', colorScheme: 'dark'});
    // Black, and a grey for what stands beside the text.
    expect((await colours()).filter((colour) => !['rgb(0, 0, 0)', 'rgb(68, 68, 68)'].includes(colour))).toEqual(['rgb(255, 255, 255)']);
    expect(await reader.page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--figure').trim())).toBe('none');
  }
});

test('the largest text breaks no word in titles', async () => {
  for (const width of [390, 1280]) {
    const reader = await visit(WHEELS, {viewport: {width, height: 800}});
    await reader.page.evaluate(() => localStorage.setItem('lutrin:size', 'huge'));
    for (const path of [WHEELS, '/', '/read/lab', '/study/lab/guide']) {
      await reader.page.goto(base + path);
      const broken = await reader.page.evaluate(() =>
        [...document.querySelectorAll('h1, h2, h3, .top .home span')].flatMap((title) => {
          const texts = document.createTreeWalker(title, NodeFilter.SHOW_TEXT);
          const found: string[] = [];
          for (let text = texts.nextNode(); text; text = texts.nextNode()) {
            for (const {0: word, index} of (text.textContent ?? '').matchAll(/[\p{L}\p{N}]+/gu)) {
              const range = new Range();
              range.setStart(text, index);
              range.setEnd(text, index + word.length);
              if (new Set([...range.getClientRects()].map(({top}) => Math.round(top))).size > 1) found.push(word);
            }
          }
          return found;
        }),
      );
      expect(broken, `${path} at ${width}`).toEqual([]);
    }
  }
});

test.each([[1024, 'huge'], [1280, 'huge'], [800, '']])('beside the panel, at %i pixels in text "%s", the parts of the head lie apart, and answers are as large as the text', async (width, size) => {
  const reader = await visit(WHEELS, {viewport: {width, height: 800}});
  const size_px = (): Promise<number> => reader.widget.locator('.greeting p').first().evaluate((words) => parseFloat(getComputedStyle(words).fontSize));
  await reader.open();
  const normal_px = await size_px();
  await reader.page.evaluate((name) => localStorage.setItem('lutrin:size', name), size);
  await reader.page.reload();
  await reader.panel.waitFor();
  expect(await size_px()).toBeCloseTo(normal_px * (size ? 1.4375 : 1), 0);
  const overlaps = await reader.page.evaluate(() => {
    const parts = [...document.querySelectorAll('.top .to-contents, .top .home > span, .top .open-finder, .top .open-finder > *, .top .tool')].filter((part) => part.checkVisibility() && getComputedStyle(part).position !== 'absolute');
    const box = (part: Element): DOMRect => part.getBoundingClientRect();
    return parts.flatMap((one, at) => parts.slice(at + 1).filter((other) => !one.contains(other) && box(one).right > box(other).left + 1 && box(other).right > box(one).left + 1).map((other) => `${one.textContent} ${other.textContent}`));
  });
  expect(overlaps).toEqual([]);
});

test('nothing lies over the last lines on a phone but the round button', async () => {
  const reader = await visit(WHEELS, {viewport: {width: 390, height: 800}, hasTouch: true, isMobile: true});
  await reader.bubble.waitFor();
  for (const side of ['::before', '::after']) {
    expect(await reader.page.evaluate((name) => getComputedStyle(document.body, name).content, side)).toBe('none');
  }
});

test('a place that only this computer can open has no code to hold a telephone before, but says what to do', async () => {
  const reader = await visit();
  await reader.page.getByRole('button', {name: 'Share this place'}).click();
  expect(await reader.page.locator('[data-shared-code]').isVisible()).toBe(false);
  expect(await reader.page.locator('[id="lutrin:share"]').innerText()).toContain('lutrin serve --lan');
});

test('a stream that is cut half-way resumes and ends byte for byte as an uncut one', async () => {
  const reader = await visit();
  await reader.open();
  await reader.ask('What does reliable delivery do, and when is best effort right?');
  const whole = await reader.answers.last().locator('.from-book').innerHTML();
  await reader.button('New conversation').click();
  wire.cutStreamAfter_bytes = 1500;
  await reader.ask('What does reliable delivery do, and when is best effort right?');
  expect(wire.cuts).toBe(1);
  expect(await reader.answers.last().getByRole('alert').count()).toBe(0);
  expect(await reader.answers.last().locator('.from-book').innerHTML()).toBe(whole);
});

test('offline: the words are said inline, the text is kept, the page stays readable; back online it goes on', async () => {
  const reader = await visit();
  await reader.open();
  await reader.context.setOffline(true);
  await reader.ask('What is a node?');
  expect(await reader.answers.getByRole('alert').innerText()).toBe('The school computer does not answer. Your question is kept.');
  expect(await reader.input.inputValue()).toBe('What is a node?');
  await seek(reader, 'battery');
  await reader.page.getByRole('dialog').getByText('Something went wrong. Please try again.').waitFor();
  await reader.page.keyboard.press('Escape');
  expect(await reader.page.locator('article h1').isVisible()).toBe(true);
  await reader.context.setOffline(false);
  await reader.input.press('Enter');
  await reader.finished.waitFor();
});

test('on a network that comes and goes every question is answered in the end', async () => {
  const reader = await visit();
  await reader.open();
  for (const [index, question] of ['What is a node?', 'What is a topic?', 'What is a publisher?'].entries()) {
    wire.down = true;
    await reader.ask(question);
    await reader.answers.last().getByRole('alert').waitFor();
    wire.down = false;
    await reader.button('Try again').click();
    await reader.finished.nth(index).waitFor();
  }
  expect(await reader.questions.count()).toBe(3);
  expect(await reader.widget.getByRole('alert').count()).toBe(0);
});

describe('axe finds nothing on the whole page', () => {
  const asked = async (reader: Reader): Promise<void> => {
    await reader.open();
    await reader.ask('What is a node?');
  };
  const searched = async (reader: Reader): Promise<void> => {
    await seek(reader, 'battery');
    await reader.page.locator('.found a').first().waitFor();
  };
  const quiet = async (): Promise<void> => undefined;
  const states: [string, string, (reader: Reader) => Promise<void>, BrowserContextOptions?][] = [
    ['shelf', '/', quiet],
    ['page', WHEELS, quiet],
    ['page, dark', WHEELS, quiet, {colorScheme: 'dark'}],
    ['page, forced colours', WHEELS, quiet, {forcedColors: 'active'}],
    ['page, 320 pixels', WHEELS, quiet, {viewport: {width: 320, height: 568}}],
    ['wrong address', '/nonsense', quiet],
    ['wrong address, dark, 320 pixels', '/nonsense', quiet, {colorScheme: 'dark', viewport: {width: 320, height: 568}}],
    ['answered', NODES, asked],
    ['found', NODES, searched],
    ['found, dark', NODES, searched, {colorScheme: 'dark'}],
  ];
  test.each(states)('in the state: %s', async (_, path, act, options = {}) => {
    const reader = await visit(path, options);
    await act(reader);
    expect(await axeFindings(reader, 'html')).toEqual([]);
  });
});

test('on 320 pixels no page scrolls sideways', async () => {
  for (const path of ['/', WHEELS, TOPICS, '/nonsense']) {
    const reader = await visit(path, {viewport: {width: 320, height: 568}});
    expect(await reader.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  }
});
