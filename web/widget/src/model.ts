/** Whether the language model is on its way, while the panel has nothing else to show. */

import type {ReactiveController, ReactiveControllerHost} from 'lit';
import type {Api} from './api.ts';

const PAUSE_MS = 5000;
const COMING = new Set(['arriving', 'measuring']);

/** What is to be known of the element. */
interface Host extends ReactiveControllerHost {
  readonly isConnected: boolean;
  readonly server: Api | undefined;
  readonly open: boolean;
  readonly conversation: {readonly turns: readonly unknown[]};
}

export class ModelState implements ReactiveController {
  /** Why answers are the book's own words now, in the server's words; empty: they are explained. */
  progress = '';
  readonly #host: Host;
  /** The server is asked again and again, or has said that there is nothing to wait for. */
  #settled = false;

  constructor(host: Host) {
    this.#host = host;
    host.addController(this);
  }

  hostUpdated(): void {
    if (this.#wanted && !this.#settled) void this.#watch();
  }

  get #wanted(): boolean {
    const {isConnected, server, open, conversation} = this.#host;
    return isConnected && open && Boolean(server) && !conversation.turns.length;
  }

  async #watch(): Promise<void> {
    this.#settled = true;
    do {
      // A server that says nothing is no news: the first question will tell.
      const {model_state = '', model_progress = ''} = (await this.#host.server?.model().catch(() => undefined)) ?? {};
      const coming = COMING.has(model_state);
      this.progress = coming || model_state === 'ready' ? model_progress : '';
      this.#host.requestUpdate();
      if (!coming) return;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    } while (this.#wanted);
    this.#settled = false;
  }
}
