/** What can be done with an answer that is there: have it read, pass it on, print it. */

import type {LutrinChat} from '../chat.ts';
import {copyText} from '../clipboard.ts';
import {answerText, sourceLines, type Turn} from '../conversation.ts';
import type {Citation} from '../wire.ts';
import {linesOf} from '../words.ts';
import {button, el} from './dom.ts';
import type {ReadAloud} from './speech.ts';

export const NO_VOICE = 'This device has no voice of its own for this language.';

export class AnswerTools {
  readonly #chat: LutrinChat;
  readonly #aloud: ReadAloud;
  readonly #parts = new WeakMap<Turn, HTMLElement>();

  constructor(chat: LutrinChat, aloud: ReadAloud) {
    this.#chat = chat;
    this.#aloud = aloud;
  }

  /** Undefined while there is no answer. */
  of(turn: Turn): HTMLElement | undefined {
    if (turn.state !== 'done' || turn.kind === 'refusal' || !(turn.text || turn.excerpts.length)) return undefined;
    const known = this.#parts.get(turn) ?? this.#draw(turn);
    this.#parts.set(turn, known);
    return known;
  }

  #draw(turn: Turn): HTMLElement {
    const listen = button('Read aloud', () => void this.#listen(listen));
    listen.ariaPressed = 'false';
    const share = button('Share', () => void this.#share(turn));
    const print = button('Print', () => printed(turn, this.#hrefOf));
    return el('p', {className: 'tools'}, ...('speechSynthesis' in window ? [listen, ' '] : []), share, ' ', print);
  }

  async #listen(listen: HTMLButtonElement): Promise<void> {
    const answer = listen.closest('.message');
    if (!answer) return;
    const able = await this.#aloud.toggle(answer, (reading) => {
      listen.ariaPressed = String(reading);
      listen.textContent = reading ? 'Stop reading' : 'Read aloud';
    });
    if (!able) listen.textContent = this.#chat.status = NO_VOICE;
  }

  #text(turn: Turn): string {
    return answerText(turn, this.#hrefOf);
  }

  readonly #hrefOf = (citation: Citation): string => new URL(this.#chat.hrefOf(citation), document.baseURI).href;

  /** By what the device has for it, else over the clipboard. */
  async #share(turn: Turn): Promise<void> {
    const text = `${turn.question}\n\n${this.#text(turn)}`;
    if ('share' in navigator) {
      const shared = await navigator.share({text}).then(() => true, (error: unknown) => error instanceof DOMException && error.name === 'AbortError');
      if (shared) return;
    }
    if (await copyText(text)) this.#chat.status = 'The answer is copied, with its sources.';
  }
}

/** Print a question and its answer alone, with where it stands in the book. */
function printed(turn: Turn, hrefOf: (citation: Citation) => string): void {
  const lines = linesOf(turn.blocks).map((line) => el('p', {}, line));
  const sources = sourceLines(turn, hrefOf).flatMap((line, at) => (at ? [el('br'), line] : [line]));
  const sheet = el('section', {className: 'one-answer'}, el('h1', {}, turn.question), ...lines, el('p', {}, ...sources));
  document.body.append(sheet);
  document.documentElement.dataset['printing'] = 'answer';
  addEventListener('afterprint', () => {
    sheet.remove();
    delete document.documentElement.dataset['printing'];
  }, {once: true});
  print();
}
