/**
 * What helps to learn, on the reader's own pages: hints before answers, a question below them, texts read aloud, bookmarks,
 * and formulas in what was prepared, which pages have as TeX.
 */

import type {Aids} from '../aids.ts';
import type {LutrinChat} from '../chat.ts';
import type {Turn} from '../conversation.ts';
import {storeOf} from '../identity.ts';
import {drawFormulas} from '../practice/formulas.ts';
import {AskBack} from './askback.ts';
import {assigned} from './assigned.ts';
import {Hints} from './hints.ts';
import {pageTools} from './page.ts';
import {Recalls} from './recall.ts';
import {ReadAloud, SPOKEN_STYLE} from './speech.ts';
import {Sheet} from './sheet.ts';
import {STYLE} from './style.ts';
import {AnswerTools} from './tools.ts';

/** Prepared texts: notes below sections, glossary, key points and worksheets. */
const PREPARED = ['.notes', '.glossary', '.guide', '.worksheet', '.answers'].flatMap((part) => ['dt', 'dd', 'li', 'p'].map((tag) => `${part} ${tag}`)).join();
const AWAY = 'The school computer does not answer. Your question is kept.';
const aloud = new ReadAloud();
const chat = document.querySelector('lutrin-chat');
addEventListener('pagehide', () => globalThis.speechSynthesis?.cancel());
document.adoptedStyleSheets.push(sheetOf(SPOKEN_STYLE));
drawFormulas(document.querySelectorAll(PREPARED));
pageTools(storeOf(() => localStorage), aloud);
assigned(storeOf(() => localStorage), chat);
if (chat?.shadowRoot) assist(chat, chat.shadowRoot);

function assist(chat: LutrinChat, root: ShadowRoot): void {
  root.adoptedStyleSheets.push(sheetOf(STYLE + SPOKEN_STYLE));
  new Sheet(chat);
  const recalls = new Recalls(chat);
  const hints = new Hints(chat, recalls);
  const askBack = new AskBack(chat, recalls);
  const tools = new AnswerTools(chat, aloud);
  const belows = new WeakMap<Turn, HTMLElement>();
  chat.conversation.away = AWAY;
  // Who listens is told no more than who looks.
  chat.addEventListener('lutrin:answer', () => {
    const last = chat.conversation.turns.at(-1);
    const cover = last && hints.cover(last);
    if (cover) chat.status = cover.textContent;
  });
  chat.aids = (turn: Turn): Aids => {
    const cover = hints.cover(turn);
    if (cover) return {cover};
    const parts = [askBack.of(turn), tools.of(turn)].filter((part) => part !== undefined);
    if (!parts.length) return {};
    const below = belows.get(turn) ?? document.createElement('div');
    belows.set(turn, below);
    if (below.childElementCount !== parts.length) below.replaceChildren(...parts);
    return {below};
  };
  chat.requestUpdate();
}

function sheetOf(style: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  return sheet;
}
