/** The words beside the button, for a reader who has never opened the panel here. */

import type {ReactiveController, ReactiveControllerHost} from 'lit';
import type {Store} from './identity.ts';

const ACCEPTED = 'lutrin:met';
/** Where the page is looked at, in parts of the width and the height of the words. */
const ACROSS = [0, 0.25, 0.5, 0.75, 1];
const DOWN = [0, 0.5, 1];
/** Between them and a line of text. */
const GAP_PX = 4;

interface Host extends ReactiveControllerHost {
  readonly renderRoot: ParentNode;
}

export class Invitation implements ReactiveController {
  shown: boolean;
  readonly #host: Host;
  readonly #store: Store;
  #listening: AbortController | undefined;
  #placed = false;

  constructor(host: Host, store: Store) {
    this.#host = host;
    this.#store = store;
    this.shown = store.getItem(ACCEPTED) === null;
    host.addController(this);
  }

  /** Who scrolls is reading: no words over the text then. */
  hostConnected(): void {
    this.#listening = new AbortController();
    const {signal} = this.#listening;
    addEventListener('scroll', () => this.#end(), {signal, passive: true});
    addEventListener('resize', () => this.#place(), {signal, passive: true});
  }

  hostUpdated(): void {
    if (!this.#placed) this.#place();
  }

  hostDisconnected(): void {
    this.#listening?.abort();
  }

  /** The reader has found the panel: never again. */
  accept(): void {
    this.#store.setItem(ACCEPTED, 'yes');
    this.#end();
  }

  /** Where the page has text already there is no room for more. */
  #place(): void {
    const words = this.#host.renderRoot.querySelector('.invitation');
    this.#placed = words !== null;
    if (words && coversText(words.getBoundingClientRect())) this.#end();
  }

  #end(): void {
    if (!this.shown) return;
    this.shown = false;
    this.#host.requestUpdate();
  }
}

/** Whether a line of the page's text lies below a box. */
function coversText(box: DOMRect): boolean {
  const points = ACROSS.flatMap((x) => DOWN.map((y) => [box.left + x * box.width, box.top + y * box.height] as const));
  const below = new Set(points.flatMap(([x, y]) => document.elementsFromPoint(x, y)));
  const range = document.createRange();
  for (const element of below) {
    for (const node of element.childNodes) {
      if (!(node instanceof Text) || !node.data.trim()) continue;
      range.selectNodeContents(node);
      for (const line of range.getClientRects()) if (overlap(line, box)) return true;
    }
  }
  return false;
}

function overlap(one: DOMRect, other: DOMRect): boolean {
  const [right, bottom] = [other.right + GAP_PX, other.bottom + GAP_PX];
  return one.left < right && other.left < one.right + GAP_PX && one.top < bottom && other.top < one.bottom + GAP_PX;
}
