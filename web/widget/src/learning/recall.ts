/** What the server gives to learn from an answer: asked once for each. */

import type {LutrinChat} from '../chat.ts';
import type {Turn} from '../conversation.ts';
import type {Excerpt} from '../wire.ts';
import type {Card} from './cards.ts';

export interface Recall {
  /** The sentence that answers without its key word; empty: there is none. */
  hint: string;
  card?: Card | null;
}

const NOTHING: Recall = {hint: ''};

export class Recalls {
  readonly #chat: LutrinChat;
  readonly #known = new WeakMap<Turn, Promise<Recall>>();

  constructor(chat: LutrinChat) {
    this.#chat = chat;
  }

  /** Without a server, or of an answer without a passage: nothing. */
  of(turn: Turn): Promise<Recall> {
    const known = this.#known.get(turn) ?? this.#ask(turn).catch(() => NOTHING);
    this.#known.set(turn, known);
    return known;
  }

  async #ask(turn: Turn): Promise<Recall> {
    const [excerpt] = turn.excerpts;
    const citation = turn.sources.find(({n}) => n === excerpt?.n);
    const base = this.#chat.server?.base;
    if (!excerpt || !citation || !base) return NOTHING;
    const body = {book: citation.book, chunk_id: citation.chunk_id, question: turn.question, words: markedWords(excerpt)};
    const headers = {'Content-Type': 'application/json'};
    const response = await fetch(new URL('api/recall', base), {method: 'POST', headers, body: JSON.stringify(body)});
    return response.ok ? ((await response.json()) as Recall) : NOTHING;
  }
}

/** The first words of an excerpt that are marked; marks count characters, not UTF-16 units. */
function markedWords({text, marks}: Excerpt): string {
  const [first] = marks;
  return first ? Array.from(text).slice(...first).join('') : text;
}
