/**
 * Practice on the page of a book's cards: one card at a time, each again when it is about to be forgotten. The page is
 * whole without this script: a list of cards that open.
 */

import {storeOf} from '../identity.ts';
import {OwnCards} from '../learning/cards.ts';
import {drawFormulas} from './formulas.ts';
import {GRADES, HARD, inWords, Schedule} from './schedule.ts';
import {countDue, fillToday} from './today.ts';

const list = document.querySelector<HTMLElement>('.cards-to-learn');
const store = storeOf(() => localStorage);
const book = decodeURIComponent(/\/study\/([^/]+)/.exec(location.pathname)?.[1] ?? '');
const schedule = new Schedule(store, book);
const mine = new OwnCards(store, book);
let cards = new Map<string, HTMLElement>();
let ids: string[] = [];

/** The sections of the sitting, to be read again. */
const again = document.querySelector<HTMLElement>('.again');
/** Addresses of the sections of cards that were hard. */
const surprising = new Set<string>();

if (list?.dataset['today'] === undefined) start(list);
else void fillToday(list, schedule, mine).then(() => start(list));
countDue(document.querySelector<HTMLElement>('[data-due-of]'), schedule, mine);

function start(list: HTMLElement | null): void {
  drawFormulas(list?.querySelectorAll('.front, .back, .choices label, .choices li, blockquote') ?? []);
  cards = new Map([...(list?.querySelectorAll<HTMLElement>('[data-card]') ?? [])].map((card) => [card.dataset['card'] ?? '', card]));
  ids = [...cards.keys()];
  if (list && ids.length) begin(list);
}

function begin(list: HTMLElement): void {
  const status = element('p', 'size');
  status.setAttribute('role', 'status');
  const toggle = button('Practise these cards', () => (list.dataset['practising'] === undefined ? practiseAll() : stop()));
  const bar = element('div', 'choose practise');
  bar.append(toggle, status);
  list.before(bar);
  say();

  /** Above the cards: how many wait. */
  function say(): void {
    const {due, fresh} = schedule.counts(ids);
    status.textContent = `${due} to repeat, ${fresh} new. Only this browser remembers.`;
  }

  function practiseAll(): void {
    list.dataset['practising'] = '';
    toggle.textContent = 'Show all cards';
    show();
  }

  function stop(): void {
    delete list.dataset['practising'];
    toggle.textContent = 'Practise these cards';
    for (const card of cards.values()) close(card).hidden = false;
    again?.removeAttribute('hidden');
    for (const part of again?.querySelectorAll<HTMLElement>('[hidden]') ?? []) part.hidden = false;
    say();
  }

  function show(): void {
    const id = schedule.next(ids);
    for (const [other, card] of cards) close(card).hidden = other !== id;
    say();
    const card = id === undefined ? undefined : cards.get(id);
    if (again) again.hidden = Boolean(card);
    if (id !== undefined && card) return practise(id, card);
    recommend();
    const due = schedule.nextDue(ids);
    const wait = due ? ` The next card comes in ${inWords((due.getTime() - Date.now()) / 1000)}.` : '';
    status.textContent = `Done for now.${wait}`;
    toggle.focus();
  }

  function practise(id: string, card: HTMLElement): void {
    const details = card.querySelector('details');
    const waits = schedule.waits_s(id);
    const grades = element('div', 'choose grades');
    grades.setAttribute('role', 'group');
    grades.setAttribute('aria-label', 'How well did you know it?');
    grades.hidden = true;
    for (const {grade, name} of GRADES) {
      const graded = button(name, () => {
        schedule.grade(id, grade);
        if (grade <= HARD) surprising.add(sectionOf(card));
        show();
      });
      const wait = element('small');
      wait.textContent = inWords(waits.get(grade) ?? 0);
      graded.append(' ', wait);
      grades.append(graded);
    }
    card.append(grades);
    details?.addEventListener('toggle', () => (grades.hidden = !details.open), {signal: lasting(card)});
    details?.querySelector('summary')?.focus();
  }
}

/** Where the words of a card, or of an item of a list, stand. */
function sectionOf(part: HTMLElement): string {
  return part.querySelector<HTMLAnchorElement>('a[href]:not(.next)')?.href ?? '';
}

/** At the end of a sitting: only the sections that surprised. */
function recommend(): void {
  for (const item of again?.querySelectorAll('li') ?? []) item.hidden = !surprising.has(sectionOf(item));
  for (const part of again?.querySelectorAll<HTMLElement>('h2, h2 + p, ul') ?? []) part.hidden = !surprising.size;
}

const shown = new WeakMap<HTMLElement, AbortController>();

/** Until the card is closed. */
function lasting(card: HTMLElement): AbortSignal {
  const ending = new AbortController();
  shown.set(card, ending);
  return ending.signal;
}

/** A card as the page has it. */
function close(card: HTMLElement): HTMLElement {
  shown.get(card)?.abort();
  card.querySelector('.grades')?.remove();
  card.querySelector('details')?.removeAttribute('open');
  return card;
}

function element(name: string, className = ''): HTMLElement {
  return Object.assign(document.createElement(name), {className});
}

function button(words: string, act: () => void): HTMLButtonElement {
  const made = Object.assign(document.createElement('button'), {type: 'button', textContent: words} as const);
  made.addEventListener('click', act);
  return made;
}
