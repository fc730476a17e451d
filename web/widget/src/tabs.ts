/** Keeps the tabs of one browser in step: each hears when a conversation has changed in another. */

import type {ReactiveController, ReactiveControllerHost} from 'lit';
import {SESSION} from './identity.ts';

const CHANNEL = 'lutrin';

export class Tabs implements ReactiveController {
  readonly #heard: (session: string) => void;
  readonly #stored = ({key, newValue}: StorageEvent): void => void (key === SESSION && newValue && this.#heard(newValue));
  #channel: BroadcastChannel | undefined;

  /** @param heard Called with the conversation that another tab has changed, or has put in the place of the one shown. */
  constructor(host: ReactiveControllerHost, heard: (session: string) => void) {
    this.#heard = heard;
    host.addController(this);
  }

  hostConnected(): void {
    this.#channel = new BroadcastChannel(CHANNEL);
    this.#channel.onmessage = ({data}: MessageEvent<unknown>) => void (typeof data === 'string' && this.#heard(data));
    // What another tab has stored may arrive later than what it tells.
    addEventListener('storage', this.#stored);
  }

  hostDisconnected(): void {
    this.#channel?.close();
    removeEventListener('storage', this.#stored);
  }

  tell(session: string): void {
    this.#channel?.postMessage(session);
  }
}
