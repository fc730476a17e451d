/** Light or dark: as the element says, else as `data-theme` of the page's root does, else as the system has it. */

import type {ReactiveController, ReactiveControllerHost} from 'lit';

type Host = ReactiveControllerHost & HTMLElement & {readonly theme: string | null};

export class Scheme implements ReactiveController {
  readonly #host: Host;
  #observer: MutationObserver | undefined;

  constructor(host: Host) {
    this.#host = host;
    host.addController(this);
  }

  hostConnected(): void {
    this.#observer = new MutationObserver(() => this.hostUpdate());
    this.#observer.observe(document.documentElement, {attributes: true, attributeFilter: ['data-theme']});
  }

  hostDisconnected(): void {
    this.#observer?.disconnect();
  }

  hostUpdate(): void {
    const theme = this.#host.theme ?? document.documentElement.dataset['theme'] ?? '';
    if (theme === 'dark' || theme === 'light') this.#host.setAttribute('scheme', theme);
    else this.#host.removeAttribute('scheme');
  }
}
