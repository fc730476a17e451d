/** Keeps the tabs of one browser in step: each hears when a conversation has changed in another. */

import type {ReactiveController, ReactiveControllerHost} from 'lit';

const CHANNEL = 'lutrin';

export class Tabs implements ReactiveController {
  readonly #heard: (session: string) => void;
  #channel: BroadcastChannel | undefined;

  /** @param heard Called with the conversation that another tab has changed, or has put in the place of the one shown. */
  constructor(host: ReactiveControllerHost, heard: (session: string) => void) {
    this.#heard = heard;
    host.addController(this);
  }

  hostConnected(): void {
    this.#channel = new BroadcastChannel(CHANNEL);
    this.#channel.onmessage = ({data}: MessageEvent<unknown>) => void (typeof data === 'string' && this.#heard(data));
  }

  hostDisconnected(): void {
    this.#channel?.close();
  }

  tell(session: string): void {
    this.#channel?.postMessage(session);
  }
}
