/** What the page around the widget can say to it. */

import type {ReactiveController, ReactiveControllerHost} from 'lit';

/** `detail` of `lutrin:ask`. */
export interface AskDetail {
  question?: string;
  selectedText?: string;
}

export interface PageListener {
  ask: (detail: AskDetail) => void;
  /** A passage was pointed out that is not a button: offer the toolbar beside it. */
  offer: (text: string, element: Element) => void;
  /** A link of the page was pressed that leads to a passage. */
  lead: (event: MouseEvent, url: URL, quote: string) => void;
}

const CONTEXT = 'data-lutrin-context';
const PRESSABLE = 'button, a, summary, [role="button"], input, select, textarea, label';

/**
 * Listens to `lutrin:ask` on the window and to clicks on elements with `data-lutrin-context`: its value, or the
 * element's own text where it is empty, is the selected text; `data-lutrin-question` asks at once. A button opens the
 * panel; any other element gets the toolbar, so that a whole section may carry the attribute without being in the way.
 * A link with `data-lutrin-quote` lands with that passage marked.
 */
export class PageController implements ReactiveController {
  readonly #host: ReactiveControllerHost & HTMLElement;
  readonly #listener: PageListener;
  #listening: AbortController | undefined;

  constructor(host: ReactiveControllerHost & HTMLElement, listener: PageListener) {
    this.#host = host;
    this.#listener = listener;
    host.addController(this);
  }

  hostConnected(): void {
    const {signal} = (this.#listening = new AbortController());
    addEventListener('lutrin:ask', (event) => this.#listener.ask(askDetail(event)), {signal});
    document.addEventListener('click', (event) => this.#click(event), {signal});
  }

  hostDisconnected(): void {
    this.#listening?.abort();
  }

  #click(event: MouseEvent): void {
    const path = event.composedPath();
    if (path.includes(this.#host) || !(event.target instanceof Element)) return;
    const link = event.target.closest<HTMLAnchorElement>('a[data-lutrin-quote]');
    if (link) return this.#listener.lead(event, new URL(link.href), link.dataset['lutrinQuote'] ?? '');
    const element = event.target.closest(`[${CONTEXT}]`);
    if (!element) return;
    const selectedText = (element.getAttribute(CONTEXT) || element.textContent || '').trim();
    if (element.matches(PRESSABLE)) {
      if (element instanceof HTMLAnchorElement) event.preventDefault();
      this.#listener.ask({selectedText, question: element.getAttribute('data-lutrin-question') ?? ''});
      return;
    }
    const pressed = event.target.closest(PRESSABLE);
    const selecting = getSelection()?.isCollapsed === false;
    if (!selecting && !(pressed && element.contains(pressed))) this.#listener.offer(selectedText, element);
  }
}

function askDetail(event: Event): AskDetail {
  const detail: unknown = event instanceof CustomEvent ? event.detail : undefined;
  const {question, selectedText} = (detail ?? {}) as Record<string, unknown>;
  return {
    question: typeof question === 'string' ? question.trim() : '',
    selectedText: typeof selectedText === 'string' ? selectedText.trim() : '',
  };
}
