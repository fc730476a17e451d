/** A page that belongs to an assignment leads back to it; results that wait are sent from any page of the reader. */

import {assignmentOf, deliver, drop, markRead, namesIn, sender} from '../assignment/record.ts';
import type {Store} from '../identity.ts';
import {button, el} from './dom.ts';

export function assigned(store: Store, chat: HTMLElement | null): void {
  const root = location.pathname.slice(0, location.pathname.search(/\/(read|study)\//) + 1);
  const here = assignmentOf(store, location.pathname);
  if (here) {
    if (here.hints && chat) chat.dataset['hints'] = here.hints;
    const line = el('p', {className: 'assigned'}, 'Assignment: ', el('a', {href: `${root}a/${here.name}`}, here.title));
    const read = button('I have read it', () => {
      markRead(store, here.name, location.pathname);
      read.replaceWith(el('span', {className: 'size', role: 'status'}, 'read'));
    }, '');
    line.append(' ', here.isRead ? el('span', {className: 'size'}, 'read') : read);
    document.querySelector('main[data-page] > article')?.before(line);
  }
  const own = /\/a\/([^/]+)$/.exec(location.pathname)?.[1];
  if (own) {
    // The page of an assignment sends its own results; in its place stands that it is over.
    if (!document.querySelector('[data-assignment]')) drop(store, own);
    return;
  }
  for (const name of namesIn(store)) void deliver(store, name, sender(root, name));
}
