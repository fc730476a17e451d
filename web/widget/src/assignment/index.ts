/**
 * The page of an assignment: what is done, how far that is, and its results, which wait in this browser while the server
 * is away. The page is whole without this script, except that nothing is counted.
 */

import {storeOf} from '../identity.ts';
import {button, el} from '../learning/dom.ts';
import {Schedule} from '../practice/schedule.ts';
import {AssignmentRecord, deliver, drop, sender, shuffled, type ItemResult, type Sent} from './record.ts';

/** How long results wait before they are sent again, in milliseconds. */
const AGAIN_MS = 15_000;
/** Grades of the schedule: forgotten, and known. */
const [AGAIN, GOOD] = [1, 3] as const;

const main = document.querySelector<HTMLElement>('[data-assignment]');
if (main) begin(main);

function begin(main: HTMLElement): void {
  const {assignment: name = '', of: book = '', title = '', hints = ''} = main.dataset;
  const root = location.pathname.slice(0, location.pathname.lastIndexOf('/a/') + 1);
  const store = storeOf(() => localStorage);
  const pages = [...main.querySelectorAll<HTMLElement>('[data-read]')];
  const inBook = (item: HTMLElement): string => item.querySelector<HTMLAnchorElement>('a')?.pathname ?? '';
  const record = new AssignmentRecord(store, name, {title, hints, pages: pages.map(inBook)});
  const schedule = new Schedule(store, book);
  const cards = [...main.querySelectorAll<HTMLElement>('[data-items] > [data-card]')];
  const count = pages.length + cards.length;
  const send = sender(root, name);
  let sending: Promise<void> | undefined;

  if ('shuffled' in main.dataset) {
    for (const list of main.querySelectorAll('[data-items]')) list.append(...shuffled([...list.children], record.seed));
  }
  for (const page of pages) toRead(page);
  for (const card of cards) toDo(card);
  show();
  void flush();
  setInterval(() => void flush(), AGAIN_MS);
  addEventListener('online', () => void flush());
  // A page that was read and marked there.
  addEventListener('pageshow', (event) => {
    if (event.persisted) location.reload();
  });
  keepPages();

  /** Where browsers let pages be kept, those to read are, for the hours without a network. */
  function keepPages(): void {
    void navigator.serviceWorker?.ready.then(({active}) => {
      for (const address of [location.href, ...pages.map((page) => page.querySelector('a')?.href ?? '')]) active?.postMessage({keep: address});
    });
  }

  async function flush(): Promise<void> {
    sending ??= deliver(store, name, send).then(told).finally(() => (sending = undefined));
    await sending;
  }

  function told(sent: Sent): void {
    const line = main.querySelector<HTMLElement>('[data-sent]');
    if (!line) return;
    if (sent === 'over') {
      drop(store, name);
      line.textContent = 'This assignment is over: your teacher has put it away.';
    } else if (sent === 'later') line.textContent = 'The school computer does not answer. Your results are kept here and sent when it is back.';
    else line.textContent = 'Your teacher sees numbers, never who you are.';
  }

  function show(): void {
    const done = [...pages.map(inBook), ...cards.map(idOf)].filter((item) => record.doneAs(item) !== undefined).length;
    const bar = main.querySelector<HTMLProgressElement>('.progress progress');
    if (bar) [bar.max, bar.value] = [Math.max(1, count), done];
    const wrong = cards.filter((card) => record.doneAs(idOf(card)) === 'wrong').length;
    const again = wrong ? ` ${wrong === 1 ? 'One card comes' : `${wrong} cards come`} again in Practice, Due today.` : '';
    const line = main.querySelector<HTMLElement>('[data-progress]');
    if (line) line.textContent = done < count ? `${done} of ${count} done.` : `All ${count} done. Well worked!${again}`;
    if (count && done === count) record.end();
  }

  function done(item: string, how: string, result?: ItemResult): void {
    const isNew = record.doneAs(item) === undefined;
    record.finish(item, how, result);
    if (isNew && result) schedule.grade(item, how === 'wrong' ? AGAIN : GOOD);
    show();
    void flush();
  }

  function toRead(page: HTMLElement): void {
    const path = inBook(page);
    const mark = (): void => {
      if (record.doneAs(path) === undefined) return;
      page.dataset['done'] = 'read';
      read.replaceWith(el('span', {className: 'size'}, 'read'));
    };
    const read = button('I have read it', () => {
      done(path, 'read');
      mark();
    }, '');
    read.ariaLabel = `I have read it: ${page.querySelector('a')?.textContent ?? ''}`;
    page.append(' ', read);
    mark();
  }

  function toDo(card: HTMLElement): void {
    const id = idOf(card);
    const closed = 'closed' in card.dataset;
    const options = [...card.querySelectorAll<HTMLInputElement>('.choices input')];
    const typed = card.querySelector<HTMLInputElement | HTMLTextAreaElement>('.typed');
    const details = card.querySelector('details');
    const verdict = el('p', {className: 'size verdict'});
    verdict.setAttribute('role', 'status');
    const bar = el('div', {className: 'choose verdicts'});
    card.append(bar, verdict);
    restore();

    function restore(): void {
      const text = record.text(id);
      if (typed) {
        typed.value = text;
        typed.addEventListener('input', () => record.setText(id, typed.value));
      }
      for (const option of options) {
        option.checked = text !== '' && option.value === text;
        option.addEventListener('change', () => record.setText(id, option.value));
      }
      if (record.doneAs(id) !== undefined) return mark();
      if (options.length) bar.append(button(closed ? 'Hand in' : 'Check', choose, ''));
      else if (closed && card.dataset['kind'] === 'gap') bar.append(button('Hand in', handIn, ''));
      else if (closed) own('I am sure', 'I am not sure');
      else {
        own('I knew it', 'I did not');
        bar.hidden = !details?.open;
        details?.addEventListener('toggle', () => (bar.hidden = !details.open || record.doneAs(id) !== undefined));
      }
    }

    function own(yes: string, no: string): void {
      for (const [words, known] of [[yes, true], [no, false]] as const) {
        bar.append(button(words, () => {
          done(id, known ? 'right' : 'wrong', {card: id, known});
          mark();
        }, ''));
      }
    }

    function choose(): void {
      const picked = options.findIndex((option) => option.checked);
      if (picked < 0) {
        verdict.textContent = 'Choose an answer first.';
        return;
      }
      const known = options[picked]?.closest('.is-right') !== null;
      done(id, closed ? 'handed in' : known ? 'right' : 'wrong', {card: id, picked});
      if (details) details.open = true;
      mark();
    }

    function handIn(): void {
      const text = typed?.value.trim() ?? '';
      if (!text) {
        verdict.textContent = 'Write the word first.';
        return;
      }
      done(id, 'handed in', {card: id, typed: text});
      mark();
    }

    function mark(): void {
      const how = record.doneAs(id) ?? '';
      card.dataset['done'] = how;
      bar.hidden = true;
      if (closed) for (const field of [...options, ...(typed ? [typed] : [])]) field.disabled = true;
      verdict.textContent = {right: 'Done.', wrong: 'Done; read its section again.'}[how] ?? 'Handed in.';
    }
  }
}

function idOf(card: HTMLElement): string {
  return card.dataset['card'] ?? '';
}
