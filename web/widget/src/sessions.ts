/** The list of this browser's conversations: read, rename, delete, export. */

import type {Api} from './api.ts';
import type {StoredSession} from './wire.ts';

export class SessionList {
  /** undefined: not read yet. */
  sessions: StoredSession[] | undefined;
  failed = false;
  renaming = '';
  removing = '';
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  async load(api: Api | undefined): Promise<void> {
    this.sessions = undefined;
    this.cancel();
    await this.#attempt(async () => {
      if (!api) throw new TypeError('no server is named');
      this.sessions = await api.sessions();
    });
  }

  startRenaming(session: StoredSession): void {
    this.cancel();
    this.renaming = session.id;
    this.#changed();
  }

  startRemoving(session: StoredSession): void {
    this.cancel();
    this.removing = session.id;
    this.#changed();
  }

  cancel(): void {
    this.renaming = this.removing = '';
    this.#changed();
  }

  async rename(api: Api, session: StoredSession, title: string): Promise<void> {
    this.cancel();
    if (!title.trim() || title.trim() === session.title) return;
    await this.#attempt(async () => {
      await api.rename(session.id, title.trim());
      session.title = title.trim();
    });
  }

  /** @returns whether it is deleted. */
  async remove(api: Api, session: StoredSession): Promise<boolean> {
    this.cancel();
    return this.#attempt(async () => {
      await api.remove(session.id);
      this.sessions = this.sessions?.filter(({id}) => id !== session.id);
    });
  }

  async save(api: Api, session: StoredSession, form: 'markdown' | 'json'): Promise<void> {
    await this.#attempt(async () => {
      const url = URL.createObjectURL(await api.exported(session.id, form));
      const link = document.createElement('a');
      link.href = url;
      link.download = `conversation-${session.created.slice(0, 10)}.${form === 'json' ? 'json' : 'md'}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
    });
  }

  async #attempt(action: () => Promise<void>): Promise<boolean> {
    this.failed = false;
    try {
      await action();
    } catch {
      // Whatever the reason: the list says that it failed, and opening it again tries again.
      this.failed = true;
    }
    this.#changed();
    return !this.failed;
  }
}
