/** Following a citation: where it leads, and what is marked when the reader has arrived. */

import type {Store} from './identity.ts';
import {findPassage, markPassage} from './passage.ts';
import type {Citation} from './wire.ts';
import {blocksOf, wordsOf} from './words.ts';

const KEY = 'lutrin:passage';
/** A reader who arrives later than this came for another reason. */
const FRESH_MS = 60_000;
/** Pages that are drawn by scripts need a moment. */
const ATTEMPTS_MS = [0, 60, 150, 300, 600, 1200];
/** Letters may be drawn taller than their line is. */
const OVERHANG_PX = 8;

interface Expected {
  path: string;
  quote: string;
  at_ms: number;
}

/**
 * The address of a citation's heading.
 *
 * @param base The server's address; a citation's path starts there.
 * @param page The page the reader is on; a citation of another origin carries its passage in the address itself.
 */
export function citationUrl(citation: Citation, base: URL, page: string): URL {
  const url = new URL(citation.url.replace(/^\/+/, ''), base);
  if (url.origin !== new URL(page).origin) {
    const words = quoteOf(citation).split(' ').filter(Boolean);
    const part = (some: string[]): string => encodeURIComponent(some.join(' ')).replace(/-/g, '%2D');
    const passage = words.length > 8 ? `${part(words.slice(0, 4))},${part(words.slice(-4))}` : part(words);
    url.hash = `${url.hash.slice(1)}:~:text=${passage}`;
  }
  return url;
}

/** The words that a citation quotes, without markup. */
export function quoteOf(citation: Citation): string {
  return wordsOf(blocksOf(citation.blocks, citation.quote));
}

export class Landing {
  readonly #store: Store;
  #round = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The reader is about to follow a citation; call `arrived` on the page it leads to. */
  expect(url: URL, quote: string): void {
    const expected: Expected = {path: samePath(url.pathname), quote, at_ms: Date.now()};
    this.#store.setItem(KEY, JSON.stringify(expected));
  }

  /** A page is there: if a citation led to it, mark the passage as soon as it is found. */
  async arrived(): Promise<void> {
    const expected = this.#take();
    if (!expected) return;
    const round = ++this.#round;
    for (const pause_ms of ATTEMPTS_MS) {
      await new Promise((resolve) => setTimeout(resolve, pause_ms));
      if (round !== this.#round) return;
      const heading = headingOf(location.hash);
      if (location.hash && !heading) continue;
      const range = findPassage(contentOf(heading), expected.quote, heading);
      if (range) {
        markPassage(range);
        if (!heading) await stay();
        if (round === this.#round) reveal(range, heading);
        return;
      }
    }
  }

  #take(): Expected | undefined {
    const stored = this.#store.getItem(KEY);
    if (!stored) return undefined;
    const expected = JSON.parse(stored) as Expected;
    const fresh = Date.now() - expected.at_ms < FRESH_MS;
    if (fresh && expected.path !== samePath(location.pathname)) return undefined;
    this.#store.removeItem(KEY);
    return fresh ? expected : undefined;
  }
}

/** Whether two addresses are the same page, whatever their fragments. */
export function samePage(url: URL, page: Location | URL): boolean {
  return url.origin === page.origin && samePath(url.pathname) === samePath(page.pathname) && url.search === page.search;
}

function samePath(path: string): string {
  return path.replace(/(?:\/index)?(?:\.html)?\/?$/, '');
}

function headingOf(hash: string): HTMLElement | null {
  try {
    return document.getElementById(decodeURIComponent(hash.slice(1)));
  } catch {
    return null;
  }
}

/** The part of the page that an author wrote, so that a sidebar's words are not mistaken for it. */
function contentOf(heading: Element | null): Element {
  const around = heading?.closest('article, main, [role="main"]');
  return around ?? document.querySelector('article, main, [role="main"]') ?? document.body;
}

/** End a smooth scroll to what was followed before. What the browser has drawn of it meanwhile still counts. */
async function stay(): Promise<void> {
  scrollTo({top: scrollY, behavior: 'instant'});
  for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
}

/**
 * Unfold what hides the passage, and scroll to it if its heading's place on the screen will not show it. Where it is
 * now says little: the page may still be scrolling smoothly to that heading.
 */
function reveal(range: Range, heading: HTMLElement | null): void {
  let folded = range.startContainer.parentElement?.closest('details');
  for (; folded; folded = folded.parentElement?.closest('details')) folded.open = true;
  const {top, bottom} = range.getBoundingClientRect();
  // As much as a bar that sticks to the window's upper edge covers.
  const covered = pixels(getComputedStyle(document.documentElement).scrollPaddingTop);
  const margin = heading ? pixels(getComputedStyle(heading).scrollMarginTop) : 0;
  const toHeading = heading ? heading.getBoundingClientRect().top - margin - covered : 0;
  const shownAfter = (way: number): boolean => top - way >= covered - OVERHANG_PX && bottom - way <= innerHeight;
  if (!shownAfter(toHeading)) {
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    scrollBy({top: top - innerHeight / 3, behavior: calm ? 'instant' : 'smooth'});
  } else if (!shownAfter(0)) {
    heading?.scrollIntoView(); // a page that is drawn by scripts may not have done it
  }
}

function pixels(length: string): number {
  return parseFloat(length) || 0;
}
