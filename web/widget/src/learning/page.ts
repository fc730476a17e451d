/** What can be done with a page: have it read, and keep a bookmark in it. Only this browser knows the bookmarks. */

import type {Store} from '../identity.ts';
import {button, el} from './dom.ts';
import type {ReadAloud} from './speech.ts';
import {NO_VOICE} from './tools.ts';

interface Bookmark {
  address: string;
  title: string;
}

export function pageTools(store: Store, aloud: ReadAloud): void {
  const listen = document.querySelector<HTMLButtonElement>('[data-read-aloud]');
  const article = document.querySelector('main > article');
  if (listen && article) {
    listen.hidden = !('speechSynthesis' in window);
    listen.addEventListener('click', () => {
      void aloud.toggle(article, (reading) => {
        listen.ariaPressed = String(reading);
        listen.textContent = reading ? 'Stop reading' : 'Read aloud';
      }).then((able) => {
        if (!able) listen.replaceWith(el('span', {role: 'status'}, NO_VOICE));
      });
    });
  }
  const {book = '', title = ''} = document.querySelector<HTMLElement>('main[data-page]')?.dataset ?? {};
  const toggle = document.querySelector<HTMLButtonElement>('[data-bookmark]');
  if (toggle) new Bookmarks(store, book).bind(toggle, {address: location.pathname, title});
  for (const place of document.querySelectorAll<HTMLElement>('[data-cover], .card[data-book]')) {
    new Bookmarks(store, place.dataset['cover'] ?? place.dataset['book'] ?? '').list(place.querySelector('.size'));
  }
}

class Bookmarks {
  readonly #store: Store;
  readonly #key: string;

  constructor(store: Store, book: string) {
    this.#store = store;
    this.#key = `lutrin:bookmarks:${book}`;
  }

  get #all(): Bookmark[] {
    return JSON.parse(this.#store.getItem(this.#key) ?? '[]') as Bookmark[];
  }

  bind(toggle: HTMLButtonElement, here: Bookmark): void {
    const say = (): void => {
      const has = this.#all.some(({address}) => address === here.address);
      toggle.ariaPressed = String(has);
      toggle.textContent = has ? 'Bookmarked' : 'Bookmark';
    };
    toggle.addEventListener('click', () => {
      const others = this.#all.filter(({address}) => address !== here.address);
      this.#keep(others.length < this.#all.length ? others : [...others, here]);
      say();
    });
    say();
  }

  /** Below a line of a book's card or cover. */
  list(line: Element | null): void {
    const all = this.#all;
    if (!line || !all.length) return;
    const items = all.map((bookmark) => {
      const item = el('li', {}, el('a', {href: bookmark.address}, bookmark.title), ' ', button('Remove', () => {
        this.#keep(this.#all.filter(({address}) => address !== bookmark.address));
        item.remove();
        if (!list.childElementCount) section.remove();
      }, ''));
      item.querySelector('button')!.ariaLabel = `Remove the bookmark: ${bookmark.title}`;
      return item;
    });
    const list = el('ul', {}, ...items);
    const section = el('section', {className: 'bookmarks', ariaLabel: 'Bookmarks'}, el('p', {className: 'size'}, 'Bookmarks'), list);
    line.after(section);
  }

  #keep(all: readonly Bookmark[]): void {
    this.#store.setItem(this.#key, JSON.stringify(all));
  }
}
