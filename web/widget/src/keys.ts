/** Keys that are heard wherever the reader is: one opens the panel and goes back, Escape closes it. */

import type {ReactiveController, ReactiveControllerHost} from 'lit';

/** Of a page: what needs its keys itself. */
const BUSY = 'dialog[open], [role="dialog"], [aria-modal="true"], [aria-expanded="true"][role="combobox"]';
const TYPING = 'input, textarea, select, [contenteditable]:not([contenteditable="false"])';

interface Host extends ReactiveControllerHost, HTMLElement {
  readonly open: boolean;
  /** The letter that opens the panel with Ctrl, or with the Command key. */
  readonly shortcut: string;
}

export interface KeyListener {
  shortcut: () => void;
  escape: () => void;
}

export class KeyController implements ReactiveController {
  readonly #host: Host;
  readonly #listener: KeyListener;
  #listening: AbortController | undefined;

  constructor(host: Host, listener: KeyListener) {
    this.#host = host;
    this.#listener = listener;
    host.addController(this);
  }

  hostConnected(): void {
    const {signal} = (this.#listening = new AbortController());
    // At the window, behind everything in the page that may have a use for the key.
    addEventListener('keydown', (event) => this.#key(event), {signal});
  }

  hostDisconnected(): void {
    this.#listening?.abort();
  }

  #key(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing) return;
    const inside = event.composedPath().includes(this.#host);
    const from = inside || !(event.target instanceof Element) ? undefined : event.target;
    const {shortcut, open} = this.#host;
    if (event.key === 'Escape' && open && !from?.closest(BUSY)) {
      event.preventDefault();
      this.#listener.escape();
    } else if (shortcut && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === shortcut) {
      // Ctrl+I is italics where one writes.
      if (from?.matches(TYPING) && !from.matches('input:not([type="text"])')) return;
      event.preventDefault();
      this.#listener.shortcut();
    }
  }
}
