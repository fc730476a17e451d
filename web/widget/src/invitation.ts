/** The words beside the button, for a reader who has never opened the panel here. */

import type {ReactiveController, ReactiveControllerHost} from 'lit';
import type {Store} from './identity.ts';

const ACCEPTED = 'lutrin:met';

export class Invitation implements ReactiveController {
  shown: boolean;
  readonly #host: ReactiveControllerHost;
  readonly #store: Store;
  #listening: AbortController | undefined;

  constructor(host: ReactiveControllerHost, store: Store) {
    this.#host = host;
    this.#store = store;
    this.shown = store.getItem(ACCEPTED) === null;
    host.addController(this);
  }

  /** Who scrolls is reading: no words over the text then. */
  hostConnected(): void {
    this.#listening = new AbortController();
    addEventListener('scroll', () => this.#end(), {signal: this.#listening.signal, passive: true});
  }

  hostDisconnected(): void {
    this.#listening?.abort();
  }

  /** The reader has found the panel: never again. */
  accept(): void {
    this.#store.setItem(ACCEPTED, 'yes');
    this.#end();
  }

  #end(): void {
    if (!this.shown) return;
    this.shown = false;
    this.#host.requestUpdate();
  }
}
