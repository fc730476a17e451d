/**
 * A hint before the answer: where to look, then the sentence with its key word left out, then the answer, which is
 * never more than two taps away. The reader's own choice comes first, then the teacher's for the book; where neither
 * chose, hints are offered on the book's own exercises.
 */

import type {LutrinChat} from '../chat.ts';
import {bookOf, type Turn} from '../conversation.ts';
import {lettersOnly} from '../passage.ts';
import type {Citation} from '../wire.ts';
import {button, el} from './dom.ts';
import type {Recalls} from './recall.ts';

type Choice = 'off' | 'offered' | 'first';
type Stage = 'waiting' | 'offered' | 'place' | 'hint' | 'answer';

/** Letters of a question that are hardly in an exercise by chance. */
const ENOUGH = 16;

export class Hints {
  readonly #chat: LutrinChat;
  readonly #recalls: Recalls;
  readonly #stages = new WeakMap<Turn, {stage: Stage; drawn: Stage | ''; choice: Choice; cover: HTMLElement}>();

  constructor(chat: LutrinChat, recalls: Recalls) {
    this.#chat = chat;
    this.#recalls = recalls;
  }

  /** What stands in the place of an answer; undefined: nothing does. */
  cover(turn: Turn): HTMLElement | undefined {
    const known = this.#stages.get(turn);
    if (!known) {
      const choice = turn.state === 'waiting' ? this.#choice(turn) : 'off';
      this.#stages.set(turn, {stage: choice === 'off' ? 'answer' : 'waiting', drawn: '', choice, cover: el('div', {className: 'hinted'})});
      return this.cover(turn);
    }
    const ended = turn.state !== 'waiting' && turn.state !== 'streaming';
    // What is no answer is no secret.
    if (turn.kind === 'refusal' || (ended && (turn.state !== 'done' || !turn.excerpts.length))) known.stage = 'answer';
    if (known.stage === 'waiting' && turn.state === 'done') known.stage = known.choice === 'first' ? 'place' : 'offered';
    if (known.stage === 'answer') return undefined;
    if (known.drawn !== known.stage) {
      known.drawn = known.stage;
      this.#draw(turn, known.stage, known.cover);
    }
    return known.cover;
  }

  #choice({question, selectedText}: Turn): Choice {
    const {explainQuestion, simplifyQuestion} = this.#chat.words;
    if (question === explainQuestion || question === simplifyQuestion) return 'off';
    const chosen = document.documentElement.dataset['hints'] || this.#chat.dataset['hints'];
    return (chosen as Choice | undefined) || (isExercise(selectedText || question) ? 'offered' : 'off');
  }

  #draw(turn: Turn, stage: Stage, cover: HTMLElement): void {
    const go = (next: Stage): void => {
      const known = this.#stages.get(turn);
      if (known) known.stage = next;
      const before = cover.closest<HTMLElement>('.message');
      this.#chat.requestUpdate();
      void this.#chat.updateComplete.then(() => (next === 'answer' ? before : cover.querySelector<HTMLElement>('button'))?.focus({preventScroll: true}));
    };
    const answer = button('The answer', () => go('answer'));
    const hint = button('A hint', () => go('hint'));
    if (stage === 'waiting') return cover.replaceChildren(el('p', {className: 'label'}, this.#chat.words.searching));
    if (stage === 'offered') return cover.replaceChildren(el('p', {className: 'label'}, 'Found. Would you like a hint first?'), el('p', {}, hint, ' ', answer));
    const place = el('p', {}, 'Look in ', this.#place(turn));
    if (stage === 'place') return cover.replaceChildren(place, el('p', {}, hint, ' ', answer));
    const sentence = el('p', {className: 'text'});
    sentence.setAttribute('role', 'status');
    cover.replaceChildren(place, sentence, el('p', {}, answer));
    void this.#recalls.of(turn).then((found) => (sentence.textContent = found.hint || 'The passage there answers it.'));
  }

  /** Chapter and heading, as a link that marks nothing. */
  #place({excerpts: [excerpt], sources}: Turn): Node {
    const citation = sources.find(({n}) => n === excerpt?.n);
    const path = [...new Set([citation ? bookOf(citation, this.#chat.book) : '', citation?.chapter ?? '', excerpt?.heading_path.at(-1) ?? ''])].filter(Boolean).join(' › ');
    if (!citation) return el('em', {}, path || 'the selected text');
    const link = el('a', {href: this.#chat.hrefOf(citation), className: 'place'}, path);
    return Object.assign(link, {citation: {...citation, quote: '', blocks: []} satisfies Citation});
  }
}

/** Whether words stand in one of the exercises of the page that is open. */
function isExercise(words: string): boolean {
  const main = document.querySelector<HTMLElement>('main[data-exercises]');
  const wanted = lettersOnly(words);
  if (!main || wanted.length < ENOUGH) return false;
  const anchors = JSON.parse(main.dataset['exercises'] ?? '[]') as string[];
  return anchors.some((anchor) => lettersOnly(sectionText(main, anchor)).includes(wanted));
}

/** The text below a heading, to the next one; of a page without one all of it. */
function sectionText(main: HTMLElement, anchor: string): string {
  const heading = anchor ? document.getElementById(anchor) : null;
  if (!heading) return main.querySelector('article')?.textContent ?? '';
  if (!/^H\d$/.test(heading.tagName)) return heading.textContent;
  const parts: string[] = [];
  for (let part = heading.nextElementSibling; part && !/^H\d$/.test(part.tagName); part = part.nextElementSibling) parts.push(part.textContent);
  return parts.join(' ');
}
