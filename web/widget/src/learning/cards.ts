/** Cards that a reader added below answers. Only this browser has them. */

import type {Store} from '../identity.ts';

/** A card as the server sends it; what has no value is left out. */
export interface Card {
  id: string;
  kind: string;
  front: string;
  back: string;
  /** Section without which the front may not be understood. */
  context?: string;
  choices?: string[];
  answer?: number;
  proof?: string;
  /** Path of the page that holds its passage, from the server's root. */
  url: string;
  section: string;
  chapter: string;
  author: string;
}

export interface OwnCard extends Card {
  /** When it comes for the first time, ISO 8601. */
  due: string;
}

const DAY_MS = 86_400_000;

export class OwnCards {
  readonly #store: Store;
  readonly #key: string;

  /** @param book Slug: each book has its own. */
  constructor(store: Store, book: string) {
    this.#store = store;
    this.#key = `lutrin:cards:${book}`;
  }

  all(): OwnCard[] {
    return JSON.parse(this.#store.getItem(this.#key) ?? '[]') as OwnCard[];
  }

  has(id: string): boolean {
    return this.all().some((card) => card.id === id);
  }

  /** Its answer was just read: it comes for the first time tomorrow. */
  add(card: Card, now: Date = new Date()): void {
    if (this.has(card.id)) return;
    const tomorrow = new Date(now.getTime() + DAY_MS);
    tomorrow.setHours(0, 0, 0, 0);
    this.#keep([...this.all(), {...card, due: tomorrow.toISOString()}]);
  }

  remove(id: string): void {
    this.#keep(this.all().filter((card) => card.id !== id));
  }

  #keep(cards: readonly OwnCard[]): void {
    this.#store.setItem(this.#key, JSON.stringify(cards));
  }
}
