/**
 * What this browser knows of an assignment: what is done, and what the server has not counted yet. Results go out in
 * parcels; each has a random receipt of its own, so that one which is sent twice counts once, and nothing joins two.
 */

import {randomId, type Store} from '../identity.ts';

const PREFIX = 'lutrin:assignment:';
/** Of the names of the assignments that this browser has. */
const LIST = 'lutrin:assignments';
/** Results that the server takes at once. */
const MOST_AT_ONCE = 100;

export interface ItemResult {
  card: string;
  known?: boolean;
  picked?: number;
  typed?: string;
}

interface Parcel {
  receipt: string;
  opened: boolean;
  finished: boolean;
  results: ItemResult[];
}

interface Kept {
  title: string;
  /** Paths of the pages to read. */
  pages: string[];
  hints: string;
  /** Orders the items of this browser. */
  seed: number;
  /** Items that are done: `right`, `wrong`, or `read` of a page. */
  done: Record<string, string>;
  /** What was written or chosen so far. */
  texts: Record<string, string>;
  waiting: ItemResult[];
  parcel?: Parcel | undefined;
  opened: 'no' | 'yes';
  finished: 'no' | 'due' | 'yes';
}

export type Sent = 'all' | 'later' | 'over';

export class AssignmentRecord {
  readonly #name: string;
  readonly #store: Store;
  readonly #fresh: Kept;

  constructor(store: Store, name: string, about: {title: string; pages: string[]; hints: string}) {
    this.#name = name;
    this.#store = store;
    this.#fresh = {...about, seed: Math.floor(Math.random() * 2 ** 31), done: {}, texts: {}, waiting: [], opened: 'no', finished: 'no'};
    this.#change((kept) => Object.assign(kept, about));
    const names = namesIn(store);
    if (!names.includes(name)) store.setItem(LIST, JSON.stringify([...names, name]));
  }

  get seed(): number {
    return this.#kept.seed;
  }

  doneAs(item: string): string | undefined {
    return this.#kept.done[item];
  }

  text(item: string): string {
    return this.#kept.texts[item] ?? '';
  }

  setText(item: string, text: string): void {
    this.#change((kept) => (kept.texts[item] = text));
  }

  /** An item is done; the first time counts. */
  finish(item: string, how: string, result?: ItemResult): void {
    this.#change((kept) => {
      if (kept.done[item] !== undefined) return;
      kept.done[item] = how;
      if (result) kept.waiting.push(result);
    });
  }

  /** Everything is done. */
  end(): void {
    this.#change((kept) => {
      if (kept.finished === 'no') kept.finished = 'due';
    });
  }

  /** As it stands in the store: parcels leave it, and other pages write to it, meanwhile. */
  get #kept(): Kept {
    return read(this.#store, this.#name) ?? this.#fresh;
  }

  #change(change: (kept: Kept) => void): void {
    const kept = this.#kept;
    change(kept);
    this.#store.setItem(PREFIX + this.#name, JSON.stringify(kept));
  }
}

/** What this browser keeps of an assignment; undefined: nothing. */
function read(store: Store, name: string): Kept | undefined {
  const text = store.getItem(PREFIX + name);
  return text ? (JSON.parse(text) as Kept) : undefined;
}

export function namesIn(store: Store): string[] {
  return JSON.parse(store.getItem(LIST) ?? '[]') as string[];
}

/** The assignment that a page belongs to and that is not finished yet; undefined: none. */
export function assignmentOf(store: Store, path: string): {name: string; title: string; hints: string; isRead: boolean} | undefined {
  for (const name of namesIn(store).toReversed()) {
    const kept = read(store, name);
    if (kept && kept.finished === 'no' && kept.pages.includes(path)) return {name, title: kept.title, hints: kept.hints, isRead: path in kept.done};
  }
  return undefined;
}

/** Say on the page itself that it was read. */
export function markRead(store: Store, name: string, path: string): void {
  const kept = read(store, name);
  if (kept) store.setItem(PREFIX + name, JSON.stringify({...kept, done: {...kept.done, [path]: 'read'}}));
}

/** Forget an assignment in this browser. */
export function drop(store: Store, name: string): void {
  store.removeItem(PREFIX + name);
  store.setItem(LIST, JSON.stringify(namesIn(store).filter((other) => other !== name)));
}

/**
 * Send what the server has not counted yet. A parcel that was sent and not heard of is sent again as it was.
 *
 * @param send Gives the status of the reply; throws if the server is away.
 */
export async function deliver(store: Store, name: string, send: (parcel: Parcel) => Promise<number>): Promise<Sent> {
  for (;;) {
    const kept = read(store, name);
    if (!kept) return 'over';
    const due = kept.waiting.length || kept.opened === 'no' || kept.finished === 'due';
    if (!kept.parcel && !due) return 'all';
    if (!kept.parcel) {
      kept.parcel = {receipt: randomId(), opened: kept.opened === 'no', finished: kept.finished === 'due', results: kept.waiting.slice(0, MOST_AT_ONCE)};
      kept.waiting = kept.waiting.slice(MOST_AT_ONCE);
      if (kept.waiting.length) kept.parcel.finished = false;
      store.setItem(PREFIX + name, JSON.stringify(kept));
    }
    const parcel = kept.parcel;
    const status = await send(parcel).catch(() => 0);
    if (status === 404) {
      drop(store, name);
      return 'over';
    }
    // What the server cannot make sense of it will not understand the next time either.
    if (status !== 204 && status !== 422) return 'later';
    // The page may have written meanwhile.
    const now = read(store, name);
    if (!now) return 'over';
    now.parcel = undefined;
    if (parcel.opened) now.opened = 'yes';
    if (parcel.finished) now.finished = 'yes';
    store.setItem(PREFIX + name, JSON.stringify(now));
  }
}

/** The sender of parcels of this server. */
export function sender(root: string, name: string): (parcel: Parcel) => Promise<number> {
  return async (parcel) => {
    const headers = {'Content-Type': 'application/json'};
    const address = `${root}api/assignments/${encodeURIComponent(name)}/results`;
    return (await fetch(address, {method: 'POST', headers, body: JSON.stringify(parcel), keepalive: true})).status;
  };
}

/** The items in an order of this browser's own, the same each time. */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const order = [...items];
  let state = seed || 1;
  for (let place = order.length - 1; place > 0; place -= 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const other = Math.floor((state / 2 ** 32) * (place + 1));
    [order[place], order[other]] = [order[other] as T, order[place] as T];
  }
  return order;
}
