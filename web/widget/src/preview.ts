/** The quoted sentence below a citation, so that what was read stays in sight: on hover and focus, and at the first tap on a touch screen. */

import type {ReactiveController, ReactiveControllerHost} from 'lit';
import {place} from './floating.ts';
import type {Citation} from './wire.ts';

const SHOW_MS = 120;
/** Time to move the pointer from the citation into its preview. */
const HIDE_MS = 200;

export class PreviewController implements ReactiveController {
  /** What is shown; undefined: nothing. */
  citation: Citation | undefined;
  /** Shown by a tap: the preview then carries the link that a second tap follows. */
  tapped = false;
  readonly #host: ReactiveControllerHost;
  readonly #floating: () => HTMLElement | null;
  #reference: Element | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(host: ReactiveControllerHost, floating: () => HTMLElement | null) {
    this.#host = host;
    this.#floating = floating;
    host.addController(this);
  }

  hostDisconnected(): void {
    clearTimeout(this.#timer);
  }

  hostUpdated(): void {
    const floating = this.#floating();
    if (floating && this.#reference) place(this.#reference, floating, 'bottom');
  }

  hover(citation: Citation, reference: Element): void {
    this.#later(SHOW_MS, () => this.#show(citation, reference, false));
  }

  focus(citation: Citation, reference: Element): void {
    if (!this.tapped) this.#show(citation, reference, false);
  }

  /** @returns whether the tap opened the preview, so that it is not followed yet. */
  tap(citation: Citation, reference: Element): boolean {
    if (this.tapped && this.#reference === reference) return false;
    this.#show(citation, reference, true);
    return true;
  }

  /** The pointer is in the preview: it stays. */
  keep(): void {
    clearTimeout(this.#timer);
  }

  leave(): void {
    if (!this.tapped) this.#later(HIDE_MS, () => this.hide());
  }

  /** The messages were scrolled: the preview goes along as far as its citation shows. */
  scrolled(list: HTMLElement): void {
    if (!this.#reference) return;
    const [citation, frame] = [this.#reference.getBoundingClientRect(), list.getBoundingClientRect()];
    if (citation.bottom < frame.top || citation.top > frame.bottom) this.hide();
    else this.hostUpdated();
  }

  hide(): void {
    clearTimeout(this.#timer);
    if (!this.citation) return;
    this.citation = undefined;
    this.#reference = undefined;
    this.tapped = false;
    this.#host.requestUpdate();
  }

  #show(citation: Citation, reference: Element, tapped: boolean): void {
    clearTimeout(this.#timer);
    this.citation = citation;
    this.#reference = reference;
    this.tapped = tapped;
    this.#host.requestUpdate();
  }

  #later(pause_ms: number, action: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(action, pause_ms);
  }
}
