/** Everything that axe finds in a part of the page, and the contrasts that it leaves undecided, measured on the screen. */

import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import type {JSHandle, Page} from 'playwright-core';
import type {Reader} from './browser.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** What fades in is measured when it has arrived. */
const SETTLED_MS = 300;
/** Of the pixels behind a text, as many may lie on an edge, a line or a corner. */
const EDGES = 0.08;

interface Finding {
  id: string;
  nodes: {html: string; target: (string | string[])[]; failureSummary: string; any: {message: string}[]}[];
}

/**
 * The script enters by the debugger, past the page's policy. Where it cannot decide a contrast, as of a text on a gradient
 * or below something, the pixels behind the text decide.
 *
 * @param selector The part that is looked at.
 */
export async function axeFindings({page}: Pick<Reader, 'page'>, selector = 'html'): Promise<string[]> {
  await page.waitForTimeout(SETTLED_MS);
  await page.evaluate(AXE);
  const {violations, incomplete} = await page.evaluate((part) => {
    const {axe} = window as unknown as {axe: {run: (context: object) => Promise<{violations: Finding[]; incomplete: Finding[]}>}};
    return axe.run({include: [[part]]});
  }, selector);
  const found = violations.flatMap(({id, nodes}) => nodes.map(({html, failureSummary}) => `${id}: ${html} ${failureSummary}`));
  for (const {html, target, any} of incomplete.filter(({id}) => id === 'color-contrast').flatMap(({nodes}) => nodes)) {
    const why = await tooFaint(page, target.flat());
    if (why) found.push(`contrast: ${html} ${why} ${any.map(({message}) => message).join(' ')}`);
  }
  return found;
}

/** In pixels of the clip. */
interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

interface Text {
  clip: {x: number; y: number; width: number; height: number};
  colour: string;
  least: number;
  /** Its lines: between them, other words of the paragraph may stand. */
  lines: Box[];
  /** What lies over it, as the preview of a citation does: letters there are not to be seen. */
  covered: Box[];
}

/**
 * Why a text cannot be told from what is behind it; empty: it can.
 *
 * @param path Its selectors, one for each shadow tree.
 */
async function tooFaint(page: Page, path: readonly string[]): Promise<string> {
  const element = await page.evaluateHandle(
    (selectors) => selectors.reduce<Element | null>((at, one, depth) => (depth ? at?.shadowRoot : document)?.querySelector(one) ?? null, null),
    path,
  );
  const text = await element.evaluate((one): Text | undefined => {
    const modal = document.querySelector('dialog:modal');
    if (!one || (modal && !modal.contains(one))) return; // what is behind an open dialog is nobody's to read
    if (matchMedia('(forced-colors: active)').matches) return; // the system's own colours, which no page can make faint
    one.scrollIntoView({block: 'center', behavior: 'instant'});
    const {color, fill, fontSize, fontWeight} = getComputedStyle(one);
    const letters = document.createRange();
    letters.selectNodeContents(one);
    const {left, top, right, bottom} = letters.getBoundingClientRect();
    const [x, y] = [Math.max(0, left), Math.max(0, top)];
    const [width, height] = [Math.min(innerWidth, right) - x, Math.min(innerHeight, bottom) - y];
    if (width < 1 || height < 1 || !one.checkVisibility({opacityProperty: true, visibilityProperty: true})) return;
    const large = parseFloat(fontSize) >= 24 || (parseFloat(fontSize) >= 18.66 && Number(fontWeight) >= 700);
    const over = new Set<Element>();
    for (let down = 1; down < height; down += 4) {
      for (let along = 1; along < width; along += 4) {
        let front = document.elementFromPoint(x + along, y + down);
        for (let inner; (inner = front?.shadowRoot?.elementFromPoint(x + along, y + down)) && inner !== front; ) front = inner;
        if (front && !one.contains(front) && !front.contains(one) && front.getRootNode() === one.getRootNode()) over.add(front);
      }
    }
    const within = (box: DOMRect): Box => ({left: box.left - x, top: box.top - y, right: box.right - x, bottom: box.bottom - y});
    const lines = [...letters.getClientRects()].map(within);
    const covered = [...over].map((part) => within(part.getBoundingClientRect()));
    return {lines, covered, clip: {x, y, width, height}, colour: one instanceof SVGElement ? fill : color, least: large ? 3 : 4.5};
  });
  if (!text) return '';
  await inks(element, 'transparent');
  await page.waitForTimeout(60);
  const shot = (await page.screenshot({clip: text.clip})).toString('base64');
  await inks(element, '');
  const blank = await page.context().newPage();
  const {share, worst} = await blank.evaluate(measured, {...text, shot});
  await blank.close();
  return share > EDGES ? `${Math.round(share * 100)} of 100 pixels have less than ${text.least} to 1, ${worst.toFixed(2)} at least` : '';
}

/** Give a text and what is in it another colour; nothing: its own. */
async function inks(element: JSHandle<Element | null>, colour: string): Promise<void> {
  await element.evaluate((one, ink) => {
    for (const part of one ? [one, ...one.querySelectorAll<HTMLElement>('*')] : []) {
      for (const name of ['color', 'fill', 'stroke', 'transition', 'text-decoration-color']) {
        if (ink) (part as HTMLElement).style.setProperty(name, name === 'transition' ? 'none' : ink, 'important');
        else (part as HTMLElement).style.removeProperty(name);
      }
    }
  }, colour);
}

/** The share of pixels on which a colour has too little contrast, and the least that it has, as WCAG 2 reckons it. */
async function measured({shot, colour, least, lines, covered}: Text & {shot: string}): Promise<{share: number; worst: number}> {
  const image = new Image();
  image.src = `data:image/png;base64,${shot}`;
  await image.decode();
  const pen = Object.assign(document.createElement('canvas'), {width: image.width, height: image.height}).getContext('2d')!;
  const light = ([red = 0, green = 0, blue = 0]: number[]): number => {
    const [r = 0, g = 0, b = 0] = [red, green, blue].map((part) => (part <= 10 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0, alpha = 0] = pen.getImageData(0, 0, 1, 1).data;
  pen.clearRect(0, 0, 1, 1);
  pen.drawImage(image, 0, 0);
  const {data} = pen.getImageData(0, 0, image.width, image.height);
  let [seen, faint, worst] = [0, 0, 21];
  for (let at = 0; at < data.length; at += 4) {
    const [across, down] = [(at / 4) % image.width, Math.floor(at / 4 / image.width)];
    const lies = ({left, top, right, bottom}: Box): boolean => across >= left - 1 && across < right + 1 && down >= top - 1 && down < bottom + 1;
    if (!lines.some(lies) || covered.some(lies)) continue;
    seen += 1;
    const behind = [...data.subarray(at, at + 3)];
    const ink = [red, green, blue].map((part, channel) => (part * alpha + (behind[channel] ?? 0) * (255 - alpha)) / 255);
    const [one, other] = [light(ink), light(behind)];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (contrast < least) faint += 1;
    worst = Math.min(worst, contrast);
  }
  return {share: seen ? faint / seen : 0, worst};
}
