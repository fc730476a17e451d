/** The sheet of a telephone is a step of the browser's history: Back closes it before it leaves the page. */

import type {ReactiveController, ReactiveControllerHost} from 'lit';

/** As the panel itself notes where it made way for a citation. */
const LEFT_OPEN = 'lutrinLeftOpen';
const SHEET = 'lutrinSheet';

interface Host extends ReactiveControllerHost {
  readonly narrowOpen: boolean;
  close(): Promise<void>;
}

export class Sheet implements ReactiveController {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
    host.addController(this);
  }

  hostConnected(): void {
    addEventListener('popstate', this.#wentBack);
  }

  hostDisconnected(): void {
    removeEventListener('popstate', this.#wentBack);
  }

  hostUpdated(): void {
    const state = history.state as Record<string, unknown> | null;
    if (this.#host.narrowOpen === Boolean(state?.[SHEET]) || state?.[LEFT_OPEN]) return;
    if (this.#host.narrowOpen) history.pushState({...state, [SHEET]: true}, '');
    else history.back();
  }

  readonly #wentBack = (): void => {
    if (this.#host.narrowOpen && !(history.state as Record<string, unknown> | null)?.[SHEET]) void this.#host.close();
  };
}
