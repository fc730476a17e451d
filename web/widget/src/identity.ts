/** Who this browser is to the server: a random session id and a random secret, nothing else. */

export const SESSION = 'lutrin:session';
const SECRET = 'lutrin:secret';

/** The part of `Storage` that is used here. */
export type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** The browser's storage, or a store that lasts as long as the page where the browser forbids it. */
export function storeOf(pick: () => Storage): Store {
  try {
    const store = pick();
    store.getItem(SESSION);
    return store;
  } catch {
    // Reading the property itself throws a SecurityError when storage is blocked.
    const values = new Map<string, string>();
    return {
      getItem: (key) => values.get(key) ?? null,
      setItem: (key, value) => void values.set(key, value),
      removeItem: (key) => void values.delete(key),
    };
  }
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
