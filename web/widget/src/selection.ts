/** Notices when a reader selects text in the page, by mouse, keyboard or touch, and keeps the toolbar beside it. */

import type {ReactiveController, ReactiveControllerHost} from 'lit';
import {place} from './floating.ts';

/** Handles are dragged and keys are held: only a selection that rests is offered. */
const REST_MS = 200;
const LEAST_LETTERS = 2;

type Host = ReactiveControllerHost & HTMLElement & {explains(text: string): Promise<boolean>};

export class SelectionController implements ReactiveController {
  /** The selected text; empty: no toolbar. */
  text = '';
  /** Whether it would be explained, and not only quoted; a server that has not told in time may. */
  explained = false;
  /** The text that is offered, or will be. */
  #wanted = '';
  /** Where it stands, unless the page pointed it out itself. */
  range: Range | undefined;
  readonly #host: Host;
  readonly #toolbar: () => HTMLElement | null;
  readonly #enabled: () => boolean;
  #anchor: (() => DOMRect) | undefined;
  #pressed = false;
  #touch = false;
  /** Whether the page pointed the text out itself: then no selection has to be there. */
  #pointed = false;
  #rest: ReturnType<typeof setTimeout> | undefined;
  #dismissed = '';
  #listening: AbortController | undefined;

  /**
   * @param toolbar The toolbar's element, once it is drawn.
   * @param enabled Whether selections are offered at all.
   */
  constructor(host: Host, toolbar: () => HTMLElement | null, enabled: () => boolean) {
    this.#host = host;
    this.#toolbar = toolbar;
    this.#enabled = enabled;
    host.addController(this);
  }

  hostConnected(): void {
    const {signal} = (this.#listening = new AbortController());
    const passive = {signal, passive: true, capture: true};
    document.addEventListener('selectionchange', () => this.#changed(), {signal});
    document.addEventListener('pointerdown', (event) => this.#down(event), passive);
    for (const name of ['pointerup', 'pointercancel'] as const) {
      document.addEventListener(name, () => this.#up(), passive);
    }
    document.addEventListener('keydown', (event) => this.#key(event), {signal, capture: true});
    for (const name of ['scroll', 'resize'] as const) addEventListener(name, () => this.reposition(), passive);
  }

  hostDisconnected(): void {
    this.#listening?.abort();
    clearTimeout(this.#rest);
  }

  hostUpdated(): void {
    this.reposition();
  }

  /** Offer a text that the page points out itself, beside an element. */
  offer(text: string, element: Element): void {
    this.#pointed = true;
    this.range = undefined;
    void this.#show(text, () => element.getBoundingClientRect());
  }

  hide(): void {
    clearTimeout(this.#rest);
    this.#wanted = '';
    if (!this.text) return;
    this.text = '';
    this.#pointed = false;
    this.#anchor = undefined;
    this.#host.requestUpdate();
  }

  reposition(): void {
    const [toolbar, anchor] = [this.#toolbar(), this.#anchor];
    if (!toolbar || !anchor) return;
    const rect = anchor();
    toolbar.classList.toggle('away', rect.bottom < 0 || rect.top > innerHeight);
    // Above a touched selection the system shows its own menu.
    place({getBoundingClientRect: () => rect}, toolbar, this.#touch ? 'bottom' : 'top');
  }

  #changed(): void {
    clearTimeout(this.#rest);
    if (!this.#pressed) this.#rest = setTimeout(() => this.#read(), REST_MS);
  }

  #down(event: PointerEvent): void {
    if (event.composedPath().includes(this.#host)) return;
    this.#touch = event.pointerType === 'touch';
    this.#pressed = !this.#touch;
    this.#dismissed = '';
    if (!this.#touch || this.#pointed) this.hide();
  }

  #up(): void {
    if (!this.#pressed) return;
    this.#pressed = false;
    this.#changed();
  }

  /** Tab goes from a selection to its toolbar, Escape dismisses it. */
  #key(event: KeyboardEvent): void {
    if (!this.text || event.composedPath().includes(this.#host)) return;
    if (event.key === 'Escape') {
      this.#dismissed = this.text;
      this.hide();
      event.preventDefault(); // said and done: it closes nothing else
    } else if (event.key === 'Tab' && !event.shiftKey && !event.altKey && !event.ctrlKey && !event.metaKey) {
      const first = this.#toolbar()?.querySelector('button');
      if (!first) return;
      event.preventDefault();
      first.focus({preventScroll: true});
    }
  }

  #read(): void {
    const selection = getSelection();
    const text = selection?.toString().trim() ?? '';
    const range = selection?.rangeCount ? selection.getRangeAt(0) : undefined;
    if (!range || !this.#enabled() || !this.#offerable(text, range)) {
      // A focused toolbar stays, though some browsers drop the selection when a button is pressed.
      if (!this.#pointed && !this.#toolbar()?.matches(':focus-within')) this.hide();
      return;
    }
    if (text === this.#dismissed) return;
    this.#pointed = false;
    this.range = range;
    void this.#show(text, () => range.getBoundingClientRect());
  }

  /** Text of the page: not of its fields, nor of the panel, where the page's own range is empty. */
  #offerable(text: string, range: Range): boolean {
    if (range.collapsed || (text.match(/[\p{L}\p{N}]/gu)?.length ?? 0) < LEAST_LETTERS) return false;
    const common = range.commonAncestorContainer;
    const element = common instanceof Element ? common : common.parentElement;
    const {activeElement} = document;
    const typing = 'input, textarea, select, [contenteditable]:not([contenteditable="false"])';
    if (activeElement?.matches(typing) || activeElement?.shadowRoot?.activeElement?.matches(typing)) return false;
    if (element?.closest(`${typing}, lutrin-chat`)) return false;
    const main = document.querySelector('main, [role="main"]');
    return !main || range.intersectsNode(main);
  }

  /** The toolbar comes with all its buttons, or not yet: none moves below a finger. */
  async #show(text: string, anchor: () => DOMRect): Promise<void> {
    this.#anchor = anchor;
    if (text !== this.#wanted) {
      this.#wanted = text;
      this.text = '';
      const explained = await this.#host.explains(text);
      if (text !== this.#wanted) return;
      Object.assign(this, {text, explained});
    }
    this.#host.requestUpdate();
  }
}
