/** Who this browser is to the server: a random session id and a random secret, nothing else. */

export const SESSION = 'lutrin:session';
const SECRET = 'lutrin:secret';

/** The part of `Storage` that is used here. */
export type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** The browser's storage; where it is forbidden, and for what it has no room, a store that lasts as long as the page. */
export function storeOf(pick: () => Storage): Store {
  const values = new Map<string, string>();
  let store: Storage | undefined;
  try {
    store = pick();
    store.getItem(SESSION);
  } catch {
    // Reading the property itself throws a SecurityError when storage is blocked.
    store = undefined;
  }
  return {
    getItem: (key) => values.get(key) ?? store?.getItem(key) ?? null,
    setItem: (key, value) => {
      values.set(key, value);
      try {
        store?.setItem(key, value);
        if (store) values.delete(key);
      } catch {
        // It is full, perhaps of what the page's own scripts keep.
      }
    },
    removeItem: (key) => {
      values.delete(key);
      store?.removeItem(key);
    },
  };
}

/** Sixteen random bytes as hexadecimal digits: 128 bits, of which a UUID would hold 122. */
export function randomId(source: Pick<Crypto, 'getRandomValues'> = crypto): string {
  const bytes = source.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export class Identity {
  /** Whether this browser had a conversation before. */
  readonly known: boolean;
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
    this.known = store.getItem(SESSION) !== null;
    if (!this.known) this.session = randomId();
    if (store.getItem(SECRET) === null) store.setItem(SECRET, randomId() + randomId());
  }

  get session(): string {
    return this.#store.getItem(SESSION) ?? '';
  }

  set session(id: string) {
    this.#store.setItem(SESSION, id);
  }

  /** Begin another conversation. */
  startNew(): void {
    this.session = randomId();
  }

  /** Sent as `X-Lutrin-Client`: only who has it can read the conversation. */
  get secret(): string {
    return this.#store.getItem(SECRET) ?? '';
  }
}
