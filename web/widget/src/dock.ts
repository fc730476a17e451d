/** Where the panel stands: docked beside the text, over it as a drawer or a sheet, or floating on a foreign page. */

import type {ReactiveController, ReactiveControllerHost} from 'lit';
import type {Store} from './identity.ts';

/** A sheet leaves nothing of the page to be used, so the focus stays in it; a drawer covers the edge of a narrower page. */
export type Stance = 'docked' | 'drawer' | 'sheet' | 'floating';

/** Phones, and a page at twice its size. */
const SMALL = '(max-width: 480px), (max-height: 480px)';
/** A page that makes room does so from here on. */
const WIDE = '(min-width: 48rem)';
const WIDTH = 'lutrin:width';
const [USUAL_PX, LEAST_PX, MOST_PX, STEP_PX] = [424, 320, 760, 24];
/** Left to the text beside the panel. */
const TEXT_PX = 448;
/** A sheet that is drawn down so far is meant to be closed. */
const CLOSING_PX = 90;

interface Host extends ReactiveControllerHost, HTMLElement {
  readonly open: boolean;
  /** The page makes room for the panel. */
  readonly dock: boolean;
  close(): unknown;
}

/**
 * What it says to the page, on its root element: `data-lutrin-open` while the panel is open, `data-lutrin-docked` while
 * the page is to leave `--lutrin-docked-width` free at its end.
 */
export class Dock implements ReactiveController {
  stance: Stance = 'floating';
  readonly #host: Host;
  readonly #store: Store;
  #width_px: number;
  #listening: AbortController | undefined;
  #from: number | undefined;
  #kept: (() => void) | undefined;

  constructor(host: Host, store: Store) {
    this.#host = host;
    this.#store = store;
    this.#width_px = Number(store.getItem(WIDTH)) || USUAL_PX;
    host.addController(this);
  }

  hostConnected(): void {
    const {signal} = (this.#listening = new AbortController());
    addEventListener('resize', () => this.#host.requestUpdate(), {signal});
  }

  hostDisconnected(): void {
    this.#listening?.abort();
    this.#tell(false, false);
  }

  hostUpdate(): void {
    const {dock} = this.#host;
    this.stance = matchMedia(SMALL).matches ? 'sheet' : !dock ? 'floating' : matchMedia(WIDE).matches ? 'docked' : 'drawer';
    this.#host.setAttribute('stance', this.stance);
  }

  hostUpdated(): void {
    this.#tell(this.#host.open, this.stance === 'docked' && this.#host.open);
  }

  get most_px(): number {
    return Math.max(LEAST_PX, Math.min(MOST_PX, document.documentElement.clientWidth - TEXT_PX));
  }

  get least_px(): number {
    return LEAST_PX;
  }

  get width_px(): number {
    return Math.round(Math.min(this.most_px, Math.max(LEAST_PX, this.#width_px)));
  }

  /** The edge between text and panel was taken, moved, or let go. */
  drag(event: PointerEvent): void {
    const edge = event.currentTarget as HTMLElement;
    if (event.type === 'pointerdown') {
      event.preventDefault();
      edge.focus({preventScroll: true});
      edge.setPointerCapture(event.pointerId);
      this.#kept = placeKept();
    } else if (edge.hasPointerCapture(event.pointerId)) {
      this.#resize(this.#mirrored ? event.clientX : document.documentElement.clientWidth - event.clientX);
    }
  }

  key(event: KeyboardEvent): void {
    const wider = this.#mirrored ? 'ArrowRight' : 'ArrowLeft';
    const narrower = this.#mirrored ? 'ArrowLeft' : 'ArrowRight';
    const width_px = {[wider]: this.width_px + STEP_PX, [narrower]: this.width_px - STEP_PX, Home: LEAST_PX, End: this.most_px}[event.key];
    if (width_px === undefined) return;
    event.preventDefault();
    this.#resize(width_px);
  }

  reset(): void {
    this.#resize(USUAL_PX);
  }

  /** A sheet is drawn down by its head, and closed by that. */
  pull(event: PointerEvent): void {
    if (this.stance !== 'sheet') return;
    const head = event.currentTarget as HTMLElement;
    const sheet = head.parentElement;
    if (event.type === 'pointerdown' && !(event.target as Element).closest('button')) {
      head.setPointerCapture(event.pointerId);
      this.#from = event.clientY;
    }
    if (this.#from === undefined || !sheet) return;
    const way_px = Math.max(0, event.clientY - this.#from);
    const ended = /up|cancel/.test(event.type);
    if (ended) this.#from = undefined;
    sheet.style.transform = ended || !way_px ? '' : `translateY(${way_px}px)`;
    if (event.type === 'pointerup' && way_px > CLOSING_PX) this.#host.close();
  }

  get #mirrored(): boolean {
    return getComputedStyle(this.#host).direction === 'rtl';
  }

  #resize(width_px: number): void {
    const restore = this.#kept ?? placeKept();
    this.#width_px = width_px;
    this.#width_px = this.width_px;
    this.#store.setItem(WIDTH, String(this.#width_px));
    this.#write();
    restore();
    this.#host.requestUpdate();
  }

  #tell(open: boolean, docked: boolean): void {
    const {documentElement: root} = document;
    root.toggleAttribute('data-lutrin-open', open);
    if (docked === root.hasAttribute('data-lutrin-docked')) return docked ? this.#write() : undefined;
    const restore = placeKept();
    if (docked) this.#write();
    else root.style.removeProperty('--lutrin-docked-width');
    root.toggleAttribute('data-lutrin-docked', docked);
    restore();
  }

  /** Through the object model: a strict policy forbids style attributes, not this. */
  #write(): void {
    document.documentElement.style.setProperty('--lutrin-docked-width', `${this.width_px}px`);
  }
}

/** @returns what puts the line that is read now back where it stands now, after the page was laid out anew. */
function placeKept(): () => void {
  const {clientWidth} = document.documentElement;
  for (let y = innerHeight / 4; scrollY && y < innerHeight; y += 24) {
    const line = document.elementFromPoint((clientWidth - USUAL_PX) / 2, y);
    const top = line?.getBoundingClientRect().top;
    if (line && top !== undefined && line.clientHeight < innerHeight / 2) {
      return () => scrollBy({top: line.getBoundingClientRect().top - top, behavior: 'instant'});
    }
  }
  return () => undefined;
}
