/** When a card is due: FSRS, and what this browser remembers of each card. Nothing leaves it. */

import {createEmptyCard, fsrs, Rating, type Card, type Grade} from 'ts-fsrs';
import type {Store} from '../identity.ts';

export type {Grade};

/** How well a card was known, from worst to best. */
export const GRADES: readonly {grade: Grade; name: string}[] = [
  {grade: Rating.Again, name: 'Again'},
  {grade: Rating.Hard, name: 'Hard'},
  {grade: Rating.Good, name: 'Good'},
  {grade: Rating.Easy, name: 'Easy'},
];

/** Up to this grade a card was not known well. */
export const HARD = Rating.Hard;

/** A card that is due again so soon is practised in the same sitting. */
const SITTING_MS = 20 * 60_000;

export class Schedule {
  readonly #store: Store;
  readonly #key: string;
  readonly #now: () => Date;
  readonly #scheduler = fsrs({enable_fuzz: false});
  readonly #known: Map<string, Card>;

  /** @param book Slug: each book is remembered apart. */
  constructor(store: Store, book: string, now: () => Date = () => new Date()) {
    this.#store = store;
    this.#key = `lutrin:practice:${book}`;
    this.#now = now;
    this.#known = new Map(Object.entries(JSON.parse(store.getItem(this.#key) ?? '{}') as Record<string, Card>));
  }

  /** Of these cards: how many are to be repeated now, and how many were never seen. */
  counts(ids: readonly string[]): {due: number; fresh: number} {
    const now_ms = this.#now().getTime();
    const due = ids.filter((id) => (this.#due_ms(id) ?? Infinity) <= now_ms).length;
    return {due, fresh: ids.filter((id) => !this.#known.has(id)).length};
  }

  /** The cards that were practised and are to be repeated now, the longest due first. */
  due(): string[] {
    const now_ms = this.#now().getTime();
    const late = [...this.#known.keys()].filter((id) => (this.#due_ms(id) ?? Infinity) <= now_ms);
    return late.sort((one, other) => (this.#due_ms(one) ?? 0) - (this.#due_ms(other) ?? 0));
  }

  /** Whether a card was practised before. */
  knows(id: string): boolean {
    return this.#known.has(id);
  }

  /** The card to show: one that is due, else one that is new, else one that comes back in this sitting. */
  next(ids: readonly string[]): string | undefined {
    const now_ms = this.#now().getTime();
    const seen = ids.filter((id) => this.#known.has(id)).sort((one, other) => (this.#due_ms(one) ?? 0) - (this.#due_ms(other) ?? 0));
    const [first] = seen;
    const first_ms = first === undefined ? Infinity : (this.#due_ms(first) ?? Infinity);
    if (first_ms <= now_ms) return first;
    return ids.find((id) => !this.#known.has(id)) ?? (first_ms <= now_ms + SITTING_MS ? first : undefined);
  }

  /** When the first of these cards is due; undefined: none was seen. */
  nextDue(ids: readonly string[]): Date | undefined {
    const times = ids.map((id) => this.#due_ms(id)).filter((time) => time !== undefined);
    return times.length ? new Date(Math.min(...times)) : undefined;
  }

  /** Seconds until a card comes again, for each grade. */
  waits_s(id: string): Map<Grade, number> {
    const now = this.#now();
    const each = this.#scheduler.repeat(this.#card(id), now);
    return new Map(GRADES.map(({grade}) => [grade, Math.round((each[grade].card.due.getTime() - now.getTime()) / 1000)]));
  }

  grade(id: string, grade: Grade): void {
    this.#known.set(id, this.#scheduler.next(this.#card(id), this.#now(), grade).card);
    this.#store.setItem(this.#key, JSON.stringify(Object.fromEntries(this.#known)));
  }

  #card(id: string): Card {
    return this.#known.get(id) ?? createEmptyCard(this.#now());
  }

  #due_ms(id: string): number | undefined {
    const due = this.#known.get(id)?.due;
    return due && new Date(due).getTime();
  }
}

/** A time in words that fit on a button. */
export function inWords(wait_s: number): string {
  const [minutes, hours, days] = [60, 3600, 86_400].map((unit_s) => Math.round(wait_s / unit_s)) as [number, number, number];
  if (minutes < 60) return `${Math.max(1, minutes)} min`;
  if (hours < 24) return `${hours} h`;
  if (days < 60) return days === 1 ? '1 day' : `${days} days`;
  return `${Math.round(days / 30)} months`;
}
