/** Small things that readers met once: what a page shows in the dark and on paper, and by which names it calls its parts. */

import {execFile, execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {promisify} from 'node:util';
import {crc32, deflateSync} from 'node:zlib';
import type {Browser, BrowserContextOptions} from 'playwright-core';
import {afterAll, afterEach, beforeAll, expect, test} from 'vitest';
import {launch, Reader} from '../support/browser.ts';
import {closed, eventually} from '../support/harness.ts';
import {LUTRIN, RealServer} from '../support/real-server.ts';

const root = mkdtempSync(join(tmpdir(), 'lutrin-details-'));
const PASSWORD = 'correct-horse-battery-staple-2026';
const SIDE_PX = 96;
const TABLES = 24;
/** Attempts to sign in that cost no time in a minute, and those that may wait at once; `serve/teacher_sign_in.py`. */
const WRONG_PER_MIN = 10;
const MAX_WAITING = 8;
let browser: Browser;
let lutrin: RealServer;
const readers: Reader[] = [];

/** An eight-bit PNG, from the colour of each of its pixels. */
function png(colour: (x: number, y: number) => [number, number, number]): Buffer {
  const rows = Array.from({length: SIDE_PX}, (_, y) => Buffer.from([0, ...Array.from({length: SIDE_PX}, (_, x) => colour(x, y)).flat()]));
  const head = Buffer.alloc(13);
  head.writeUInt32BE(SIDE_PX, 0);
  head.writeUInt32BE(SIDE_PX, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const chunk = (kind: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(kind), data]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(data.length, 0);
    ends.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
  };
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', head), chunk('IDAT', deflateSync(Buffer.concat(rows))), chunk('IEND', Buffer.alloc(0))]);
}

/** A book with a drawing, a chart and two photographs, tables with captions on every second page of paper, and a page without a heading. */
function writeBook(): string {
  const folder = join(root, 'books/workshop');
  mkdirSync(join(folder, 'img'), {recursive: true});
  writeFileSync(join(folder, 'book.toml'), 'title = "Physical AI & Humanoid Robotics"\nedition = "First Edition"\n');
  writeFileSync(join(folder, 'img/plan.svg'), '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200"><rect width="300" height="200" fill="#fff"/><path d="M20 100h260" stroke="#000"/></svg>');
  writeFileSync(join(folder, 'img/chart.png'), png((x, y) => (x === y ? [20, 20, 20] : [255, 255, 255])));
  writeFileSync(join(folder, 'img/photo.png'), png((x, y) => [(x * 2) % 200, (y * 2) % 180, ((x + y) * 3) % 160]));
  // A ball on white ground, lit from one side.
  const shade = (x: number, y: number): number => Math.round(60 + 1.6 * x + Math.hypot(x - 48, y - 48) - (x * 7 + y * 5) % 3);
  writeFileSync(join(folder, 'img/ball.png'), png((x, y) => (Math.hypot(x - 48, y - 48) > 26 ? [255, 255, 255] : [shade(x, y), shade(x, y) - 30, 40 + (x + y) % 4])));
  const figures = ['plan.svg', 'chart.png', 'photo.png', 'ball.png'].map((name, at) => `![Picture ${at + 1}](./img/${name})\n\n*Figure 1.${at + 1}: A figure of the workshop.*`);
  writeFileSync(join(folder, '01-figures.mdx'), `# Figures\n\nA workshop teaches by what hangs on its walls: each tool has an outline, so that whoever comes in the morning sees at once what is missing and who has to bring it back.\n\n${figures.join('\n\n')}\n`);
  const filler = (lines: number): string => `A bench stands by the window, and each tool hangs where its outline is drawn. `.repeat(lines);
  const tables = Array.from({length: TABLES}, (_, at) => `${filler(3 + (at * 7) % 11)}\n\n*Table 2.${at + 1}: Caption number ${at + 1} ends here.*\n\n| Tool | Place |\n|---|---|\n| First tool of ${at + 1} | wall |\n| Saw | bench |\n| File | drawer |`);
  const drawings = Array.from({length: 8}, (_, at) => `${filler(4 + (at * 5) % 9)}\n\n![Plan ${at + 1}](./img/plan.svg)\n\n*Figure 2.${at + 1}: Drawing number ${at + 1} ends here.*`);
  writeFileSync(join(folder, '02-tables.mdx'), `# Tables\n\n${[...tables, ...drawings].join('\n\n')}\n`);
  mkdirSync(join(root, 'books/robots'));
  writeFileSync(join(root, 'books/robots/book.toml'), 'title = "Robot Lab Safety Handbook"\nedition = "First Edition"\n');
  writeFileSync(join(root, 'books/robots/01-loop.md'), '# The loop\n\nA robot senses, decides and acts, and what it does changes what it senses next.\n');
  writeFileSync(join(folder, '03-safety_rules.mdx'), 'Wear goggles at the grinder, and tie long hair back before the machine starts.\n');
  writeFileSync(join(folder, '04-bench.md'), '# The bench\n\nA bench is the table at which one works.\n');
  const term = {kind: 'term', file: '04-bench.md', heading: 'The bench', topic: 'bench', text: 'The table at which one works.', quotes: ['A bench is the table at which one works.'], author: 'the authors', state: 'approved'};
  writeFileSync(join(root, 'drafts.jsonl'), JSON.stringify(term));
  execFileSync(LUTRIN, ['companion', 'merge', join(root, 'drafts.jsonl'), '--corpus', folder, '--data-dir', join(root, 'merging')]);
  return join(root, 'books');
}

beforeAll(async () => {
  lutrin = await RealServer.start({corpus: writeBook(), model: 'none', token: PASSWORD});
  browser = await launch();
}, 240_000);

afterAll(async () => {
  await browser.close();
  await lutrin.remove();
  rmSync(root, {recursive: true});
});

afterEach(() => closed(readers));

async function visit(path: string, options: BrowserContextOptions = {}): Promise<Reader> {
  const reader = await Reader.at(browser, lutrin.address, path, options);
  readers.push(reader);
  return reader;
}

test.each([[320, 640], [390, 760]])('on a phone of %i to %i pixels the second book is on the first screen, and practice is in reach', async (width, height) => {
  const reader = await visit('/', {viewport: {width, height}, hasTouch: true, isMobile: true});
  const second = await reader.page.locator('.card h2').nth(1).boundingBox();
  expect(second && second.y + second.height).toBeLessThanOrEqual(height - 62);
  const links = reader.page.getByRole('link', {name: 'Practise'});
  for (const link of [links.first(), links.last()]) {
    await link.tap();
    await reader.page.waitForURL('**/study/*');
    await reader.page.goBack();
  }
  await reader.page.goto(`${lutrin.address}/study/workshop`);
  const last = reader.page.getByRole('navigation', {name: 'Practice'}).getByRole('link').last();
  await last.tap();
  await reader.page.waitForURL('**/worksheet*');
});

test('in the dark no figure has a light box round it, and a photograph stays as it is', async () => {
  const reader = await visit('/read/workshop/01-figures', {colorScheme: 'dark'});
  const corner = async (name: string): Promise<number> => {
    const picture = reader.page.getByRole('img', {name});
    await picture.scrollIntoViewIfNeeded();
    await picture.evaluate((image: HTMLImageElement) => image.decode());
    await reader.page.waitForTimeout(200);
    const shot = (await picture.screenshot()).toString('base64');
    return reader.page.evaluate(async (data) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const canvas = Object.assign(document.createElement('canvas'), {width: image.width, height: image.height});
      const pen = canvas.getContext('2d')!;
      pen.drawImage(image, 0, 0);
      return Math.max(...pen.getImageData(12, 4, 1, 1).data.slice(0, 3));
    }, shot);
  };
  expect(await corner('Picture 1')).toBeLessThan(70);
  expect(await corner('Picture 2')).toBeLessThan(70);
  for (const name of ['Picture 3', 'Picture 4']) {
    const photo = reader.page.getByRole('img', {name});
    await photo.scrollIntoViewIfNeeded();
    await photo.evaluate((image: HTMLImageElement) => image.decode());
    await reader.page.waitForTimeout(200);
    expect(await photo.evaluate((image) => getComputedStyle(image).filter)).toBe('none');
  }
});

test('by thumb, the first tap on a term shows its meaning, a tap beside it hides that, and a second tap leads to the place', async () => {
  const reader = await visit('/read/workshop/02-tables', {viewport: {width: 390, height: 760}, hasTouch: true, isMobile: true});
  const term = reader.page.getByRole('link', {name: 'bench', exact: true});
  const meaning = reader.page.getByRole('tooltip');
  await term.tap();
  await meaning.waitFor();
  expect(await meaning.innerText()).toBe('The table at which one works.\nTap again to go there.');
  await reader.page.locator('#tables').tap();
  await meaning.waitFor({state: 'hidden'});
  expect(new URL(reader.page.url()).pathname).toBe('/read/workshop/02-tables');
  await term.tap();
  await meaning.waitFor();
  await term.tap();
  await reader.page.waitForURL('**/read/workshop/04-bench*');
});

test('on paper a caption stands on the page of its table or figure', async () => {
  const reader = await visit('/read/workshop/02-tables');
  await reader.page.evaluate(async () => {
    for (const image of document.querySelectorAll('article img')) {
      image.setAttribute('loading', 'eager');
      await (image as HTMLImageElement).decode();
    }
  });
  const file = join(root, 'tables.pdf');
  await reader.page.pdf({path: file, format: 'A5'});
  // The words of each page, and how far below its upper edge, in points, the first of them stand.
  const reading = `
import json, sys
from pypdf import PdfReader
pages = []
for page in PdfReader(sys.argv[1]).pages:
    tops = []
    text = page.extract_text(visitor_text=lambda text, cm, tm, *_: text.strip() and tops.append(float(page.mediabox.height) - (tm[4] * cm[1] + tm[5] * cm[3] + cm[5])))
    pages.append([text, tops[0] if tops else 0])
print(json.dumps(pages))`;
  const {stdout} = await promisify(execFile)(join(dirname(LUTRIN), 'python'), ['-c', reading, file]);
  const printed = JSON.parse(stdout) as [string, number][];
  const pages = printed.map(([text]) => text.replace(/\s+/g, ''));
  expect(pages.length).toBeGreaterThan(6);
  const torn = Array.from({length: TABLES}, (_, at) => at + 1).filter(
    (number) => pages.findIndex((text) => text.includes(`Captionnumber${number}ends`)) !== pages.findIndex((text) => text.includes(`Firsttoolof${number}wall`)),
  );
  expect(torn).toEqual([]);
  // Above a caption with which the words of a page begin there is room for its figure: 200 pixels are 150 points.
  const first = printed.filter(([text]) => text.trimStart().startsWith('Figure 2.'));
  expect(first.length).toBeGreaterThan(0);
  expect(first.filter(([, top]) => top < 150)).toEqual([]);
}, 60_000);

test('no reader sees the name of a file: a page without a heading is called by words', async () => {
  const reader = await visit('/read/workshop');
  const seen: string[] = [await reader.page.locator('body').innerText()];
  for (const path of ['/', '/read/workshop/03-safety_rules', '/study/workshop', '/search?q=goggles']) {
    await reader.page.goto(lutrin.address + path);
    seen.push(`${await reader.page.title()}\n${await reader.page.locator('body').innerText()}`);
  }
  await reader.page.goto(`${lutrin.address}/read/workshop/01-figures`);
  await reader.page.keyboard.press('Control+k');
  await reader.page.getByRole('combobox').fill('goggles');
  await reader.page.locator('.found a').first().waitFor();
  seen.push(await reader.page.locator('.found').innerText());
  await reader.page.keyboard.press('Escape');
  await reader.open();
  await reader.ask('What must I wear at the grinder?');
  seen.push(await reader.panel.innerText());
  expect(seen.join('\n')).toContain('goggles');
  expect(seen.join('\n').match(/.*(?:\.mdx|safety_rules|03-safety).*/g)).toBe(null);
}, 60_000);

test('what has the focus has one ring, whatever it is', async () => {
  const rings = (reader: Reader): Promise<string[]> =>
    reader.page.evaluate(() => {
      let element = document.activeElement;
      while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
      const found: string[] = [];
      for (let part: Element | null = element, depth = 0; part && depth < 4; part = part.parentElement, depth += 1) {
        const {outlineStyle, outlineWidth, boxShadow} = getComputedStyle(part);
        const name = `${part.localName}.${part.className}`;
        if (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) found.push(name);
        if (/0px 0px 0px [1-9]/.test(boxShadow)) found.push(name);
      }
      return found.length > 1 ? found : [];
    });
  for (const path of ['/', '/read/workshop/01-figures', '/study/workshop']) {
    const reader = await visit(path);
    const twice: string[] = [];
    for (let presses = 0; presses < 30; presses += 1) {
      await reader.page.keyboard.press('Tab');
      twice.push(...(await rings(reader)));
    }
    await reader.page.keyboard.press('Control+k');
    twice.push(...(await rings(reader)));
    await reader.page.keyboard.press('Escape');
    await reader.open();
    for (let presses = 0; presses < 8; presses += 1) {
      twice.push(...(await rings(reader)));
      await reader.page.keyboard.press('Tab');
    }
    expect(twice, path).toEqual([]);
  }
}, 90_000);

test('neither a wrong password nor too many of them is called by a word of programmers', async () => {
  const {page} = await visit('/teacher');
  const attempt = async (): Promise<number> => (await page.request.post(`${lutrin.address}/teacher/sign-in`, {form: {token: 'wrong'}})).status();
  const refusal = async (words: string): Promise<string> => {
    await page.getByLabel('Password').fill('wrong');
    await page.getByRole('button', {name: 'Sign in'}).click();
    const alert = page.getByRole('alert').filter({hasText: words});
    await alert.waitFor();
    return alert.innerText();
  };
  const said = [await refusal('password')];
  for (let tries = 1; tries < WRONG_PER_MIN; tries += 1) expect(await attempt()).toBe(403);
  // One further attempt is only slowed down. Many at once fill the places of those that wait, and the next is turned away.
  let turnedAway = 0;
  const crowd = Array.from({length: MAX_WAITING + 1}, async () => {
    if ((await attempt()) === 429) turnedAway += 1;
  });
  await eventually(() => turnedAway, 1);
  said.push(await refusal('wait'));
  await Promise.all(crowd);
  expect(said).toEqual(['That is not the password of this server.', 'There were too many wrong attempts. Please wait a moment.']);
}, 90_000);
