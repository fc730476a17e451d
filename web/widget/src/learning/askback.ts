/** Below the newest answer: one question on the same passage, its answer hidden, and what can be done with the answer. */

import type {LutrinChat} from '../chat.ts';
import type {Turn} from '../conversation.ts';
import {storeOf} from '../identity.ts';
import {drawFormulas} from '../practice/formulas.ts';
import type {Citation} from '../wire.ts';
import {OwnCards, type Card} from './cards.ts';
import {button, el} from './dom.ts';
import type {Recalls} from './recall.ts';

export class AskBack {
  readonly #chat: LutrinChat;
  readonly #recalls: Recalls;
  readonly #parts = new WeakMap<Turn, HTMLElement>();
  /** Fronts that were asked back in this conversation: none is asked twice. */
  readonly #asked = new Set<string>();

  constructor(chat: LutrinChat, recalls: Recalls) {
    this.#chat = chat;
    this.#recalls = recalls;
  }

  /** Undefined where the book gave no answer, or an older one was never asked back. */
  of(turn: Turn): HTMLElement | undefined {
    const known = this.#parts.get(turn);
    const isSubstantive = turn.state === 'done' && turn.kind !== 'refusal' && !turn.closest && turn.excerpts.length > 0;
    if (known || !isSubstantive || this.#chat.conversation.turns.at(-1) !== turn) return isSubstantive ? known : undefined;
    const part = el('section', {className: 'ask-back', role: 'group', ariaLabel: 'Ask me back', hidden: true});
    this.#parts.set(turn, part);
    void this.#recalls.of(turn).then(({card}) => {
      const citation = turn.sources.find(({n}) => n === turn.excerpts[0]?.n);
      if (!card || !citation || this.#asked.has(card.id)) return;
      this.#asked.add(card.id);
      part.append(...this.#draw(card, citation));
      drawFormulas(part.querySelectorAll('.front, .back, blockquote'));
      part.hidden = false;
      this.#chat.scrolling.drawn(this.#chat.messages);
    });
    return part;
  }

  #draw(card: Card, citation: Citation): Node[] {
    const {book, filename} = citation;
    const cards = new OwnCards(storeOf(() => localStorage), book);
    const add = button('Add to my cards', () => {
      cards.add(card);
      added();
      this.#chat.status = ADDED;
    });
    const added = (): void => {
      add.textContent = ADDED;
      add.disabled = true;
    };
    if (cards.has(card.id)) added();
    const quiz = new URL(`study/${encodeURIComponent(book)}/deck?${new URLSearchParams({page: filename})}`, this.#chat.server?.base);
    // As a citation it makes the sheet of a telephone give way.
    const link = Object.assign(el('a', {className: 'chip place', href: quiz.href}, 'Quiz me'), {citation: {...citation, quote: '', blocks: []}});
    return [
      el('p', {className: 'label'}, 'Ask me back'),
      el('p', {className: 'front'}, card.front),
      el('details', {}, el('summary', {}, 'Show the answer'), el('p', {className: 'back'}, card.back), ...(card.proof ? [el('blockquote', {}, card.proof)] : [])),
      el('p', {}, add, ' ', link),
    ];
  }
}

const ADDED = 'In your cards. It comes again tomorrow.';
