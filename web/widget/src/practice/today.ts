/** What is due today of a whole book: cards that were practised, and those that were added below answers. */

import type {Card, OwnCard, OwnCards} from '../learning/cards.ts';
import {button, el} from '../learning/dom.ts';
import type {Schedule} from './schedule.ts';

const KINDS: Record<string, string> = {
  question: 'Question',
  choice: 'Choose',
  term: 'Term',
  gap: 'Fill the gap',
  list: 'Name them',
  table: 'Look up',
  exercise: 'Exercise of the book',
};
const LETTERS = 'ABCDEF';

/** Own cards that come for the first time now: until one is practised, the schedule knows nothing of it. */
function firstTime(schedule: Schedule, mine: OwnCards): OwnCard[] {
  return mine.all().filter(({id, due}) => !schedule.knows(id) && new Date(due).getTime() <= Date.now());
}

/** Say on the page of the chapters how many cards are due; nothing where none is. */
export function countDue(line: HTMLElement | null, schedule: Schedule, mine: OwnCards): void {
  const count = schedule.due().length + firstTime(schedule, mine).length;
  if (!line || !count) return;
  line.hidden = false;
  line.querySelector('[role=status]')?.append(count === 1 ? '1 card' : `${count} cards`);
}

/** Put the cards that are due into the list, and below it those that were added. */
export async function fillToday(list: HTMLElement, schedule: Schedule, mine: OwnCards): Promise<void> {
  const own = mine.all();
  const due = new Set([...schedule.due(), ...firstTime(schedule, mine).map(({id}) => id)]);
  const deck = due.size ? await deckOf(list.dataset['today'] ?? '') : [];
  // A card that the book no longer has is not asked, one that was added is kept here.
  const all = new Map<string, Card>([...own, ...deck].map((card) => [card.id, card]));
  list.append(...[...due].flatMap((id) => all.get(id) ?? []).map(cardView));
  const none = document.querySelector<HTMLElement>('[data-none]');
  if (none) none.hidden = list.childElementCount > 0;
  const section = document.querySelector<HTMLElement>('[data-mine]');
  if (!section) return;
  section.hidden = !own.length;
  section.querySelector('ul')?.append(...own.map((card) => ownView(card, mine)));
}

async function deckOf(book: string): Promise<Card[]> {
  const response = await fetch(`${ROOT}study/${encodeURIComponent(book)}/deck.json`).catch(() => undefined);
  return response?.ok ? ((await response.json()) as Card[]) : [];
}

/** Path of the shelf: `/`, or the path below which a proxy shows this server. */
const ROOT = location.pathname.slice(0, location.pathname.indexOf('/study/') + 1);

/** A card as the pages of cards have it. */
function cardView(card: Card): HTMLLIElement {
  const right = card.answer === undefined ? undefined : `${LETTERS[card.answer] ?? ''}: ${card.choices?.[card.answer] ?? ''}`;
  const link = el('a', {href: ROOT + card.url.slice(1)}, card.section);
  if (card.proof) link.dataset['lutrinQuote'] = card.proof;
  const view = el(
    'li',
    {className: 'flash'},
    el('p', {className: 'kind'}, [KINDS[card.kind] ?? '', card.context ?? ''].filter(Boolean).join(' · ')),
    el('p', {className: 'front'}, card.front),
    ...(card.choices?.length ? [el('ol', {className: 'choices', type: 'A'}, ...card.choices.map((choice) => el('li', {}, choice)))] : []),
    el(
      'details',
      {},
      el('summary', {}, 'Show the answer'),
      ...(right ? [el('p', {className: 'right'}, el('strong', {}, right))] : []),
      ...(card.back ? [el('p', {className: 'back'}, card.back)] : []),
      ...(card.proof && card.kind !== 'list' ? [el('blockquote', {}, card.proof)] : []),
      el('p', {className: 'where'}, link, ` · by ${card.author}`),
    ),
  );
  view.dataset['card'] = card.id;
  return view;
}

function ownView(card: OwnCard, mine: OwnCards): HTMLLIElement {
  const remove = button('Remove', () => {
    mine.remove(card.id);
    view.remove();
  }, '');
  remove.ariaLabel = `Remove the card: ${card.front}`;
  const view = el('li', {}, el('span', {}, card.front), ' ', remove);
  return view;
}
