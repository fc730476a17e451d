/** Following a citation: where it leads, and what is marked when the reader has arrived. */

import type {Store} from './identity.ts';
import {plainText} from './markdown/index.ts';
import {findPassage, markPassage} from './passage.ts';
import type {Citation} from './wire.ts';

const KEY = 'lutrin:passage';
/** A reader who arrives later than this came for another reason. */
const FRESH_MS = 60_000;
/** Pages that are drawn by scripts need a moment. */
const ATTEMPTS_MS = [0, 60, 150, 300, 600, 1200];

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
    const words = plainText(citation.quote).split(' ').filter(Boolean);
    const part = (some: string[]): string => encodeURIComponent(some.join(' ')).replace(/-/g, '%2D');
    const passage = words.length > 8 ? `${part(words.slice(0, 4))},${part(words.slice(-4))}` : part(words);
    url.hash = `${url.hash.slice(1)}:~:text=${passage}`;
  }
  return url;
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
        reveal(range);
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

/** Unfold what hides the passage, and scroll to it if the heading's place on the screen does not show it. */
function reveal(range: Range): void {
  let folded = range.startContainer.parentElement?.closest('details');
  for (; folded; folded = folded.parentElement?.closest('details')) folded.open = true;
  const {top, bottom} = range.getBoundingClientRect();
  if (top >= 0 && bottom <= innerHeight) return;
  const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  scrollBy({top: top - innerHeight / 3, behavior: calm ? 'instant' : 'smooth'});
}
