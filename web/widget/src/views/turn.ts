import {html, nothing, type TemplateResult} from 'lit';
import type {AidsOf} from '../aids.ts';
import {answerText, citationOf, saidOf, type Turn} from '../conversation.ts';
import type {Texts} from '../texts.ts';
import type {Citation, Sentence, Verdict} from '../wire.ts';
import {blocksView} from './blocks.ts';
import {excerptsView} from './excerpts.ts';
import {icon, type IconName} from './icons.ts';
import {ownView, sentencesView, type SentenceActions} from './sentences.ts';

const MOST_SUGGESTIONS = 3;

export interface TurnActions {
  texts: Texts;
  /** Another question may be sent now. */
  ready: boolean;
  /** The turn whose reader may say what was wrong. */
  commenting: Turn | undefined;
  aids: AidsOf | undefined;
  /** The turn's passages are shown whole. */
  unfolded: (turn: Turn) => boolean;
  fold: (turn: Turn) => void;
  /** Shows the passage that a sentence is to be compared with. */
  compare: (turn: Turn, citations: readonly number[], event: Event) => void;
  hrefOf: (citation: Citation) => string;
  /** The book that is open; a source in another one names its book. */
  book: string | null;
  /** The target of a link to a citation; undefined: the page itself. */
  tabOf: (citation: Citation) => string | undefined;
  retry: (turn: Turn) => void;
  edit: (turn: Turn) => void;
  explain: (turn: Turn) => void;
  /** Stop the model. */
  stop: () => void;
  searchBook: (turn: Turn) => void;
  ask: (question: string) => void;
  copy: (text: string, event: Event) => void;
  judge: (turn: Turn, verdict: Verdict) => void;
  comment: (turn: Turn, event: SubmitEvent) => void;
}

/** A question and its answer. */
export function turnView(turn: Turn, isLast: boolean, actions: TurnActions): TemplateResult {
  return html`<div class="turn">${turn.question ? questionView(turn, actions) : nothing}${answerView(turn, isLast, actions)}</div>`;
}

function questionView(turn: Turn, {texts, edit}: TurnActions): TemplateResult {
  const {question, selectedText} = turn;
  return html`<article class="message user" aria-label=${texts.you}>
    ${tool('edit', texts.edit, () => edit(turn))}
    <div class="said">
      ${selectedText ? html`<blockquote class="selected" dir="auto">${selectedText}</blockquote>` : nothing}
      <div class="text" dir="auto">${question}</div>
    </div>
  </article>`;
}

function answerView(turn: Turn, isLast: boolean, actions: TurnActions): TemplateResult {
  const {texts} = actions;
  const running = turn.state === 'waiting' || turn.state === 'streaming';
  const {error, warnings, refusal} = turn;
  const aids = actions.aids?.(turn);
  return html`<article class="message book" tabindex="-1" aria-label=${texts.book} aria-busy=${running}>${aids?.cover ?? html`${meantView(turn, actions)}
    ${isUnexplained(turn, texts) ? html`<p class="label">${texts.notExplained}</p>` : nothing}
    ${saysView(turn, actions)}
    ${running ? progressView(turn, texts) : nothing}
    ${excerptsView(turn, actions)}
    ${warnings.map((warning) => html`<p class="warning" dir="auto">${warning}</p>`)}
    ${turn.state === 'done' ? nothing : errorView(error, texts)}
    ${turn.state === 'stopped' ? html`<p class="label">${turn.cut ? texts.cutOff : texts.stopped}</p>` : nothing}
    ${refusal === 'not_in_selection' ? chip(texts.searchBook, () => actions.searchBook(turn), actions) : nothing}
    ${suggestionsView(turn, actions)}
    ${plainWordsView(turn, actions)}
    ${turn.explaining ? nothing : aids?.below}
    ${running ? nothing : footerView(turn, isLast, actions)}`}</article>`;
}

/** What the model adds: below all that is read, which does not move while it comes, and in sight. */
function plainWordsView(turn: Turn, actions: TurnActions): TemplateResult | typeof nothing {
  const {texts} = actions;
  const {plainWords, explaining, explainable, error, askedToExplain, cut, refusal, eta_s} = turn;
  if (turn.state !== 'done') return nothing;
  const shown = plainWords.length > 0;
  const words = refusal ? texts.lookAgain : eta_s ? `${texts.explainIt} (${texts.about(eta_s)})` : texts.explainIt;
  return html`${shown
      ? html`<div class="plain"><p class="label">${texts.plainWords}</p>
          <div class="text">${wordsView(plainWords, '', sentenceActions(turn, actions))}</div></div>`
      : nothing}
    ${explaining
      ? html`${progressView(turn, texts)}<p><button class="chip" type="button" @click=${actions.stop}>${texts.stop}</button></p>`
      : error !== undefined
        ? errorView(error, texts)
        : cut || (askedToExplain && !shown && !explainable)
          ? html`<p class="label">${cut ? texts.explanationCut : texts.nothingToAdd}</p>`
          : nothing}
    ${explainable && !explaining ? chip(words, () => actions.explain(turn), actions) : nothing}`;
}

function errorView(error: string | undefined, texts: Texts): TemplateResult | typeof nothing {
  return error === undefined ? nothing : html`<p class="error" role="alert">${error || texts.wrong}</p>`;
}

/** Sentences, those in words that are not the book's set apart below the others. */
function wordsView(sentences: readonly Sentence[], preparedBy: string, context: SentenceActions): unknown {
  const isOwn = ({support}: Sentence): boolean => support === 'own';
  return [sentencesView(sentences.filter((one) => !isOwn(one)), context), ownView(sentences.filter(isOwn), preparedBy, context)];
}

/** Whether *Explain* or *Simplify* found no more than the book's own words. */
function isUnexplained({kind, question, preparedBy}: Turn, {explainQuestion, simplifyQuestion}: Texts): boolean {
  return kind === 'extractive' && !preparedBy && [explainQuestion, simplifyQuestion].includes(question);
}

/** A question that was perhaps meant, before anything else. */
function meantView({meant}: Turn, {texts, ready, ask}: TurnActions): TemplateResult | typeof nothing {
  if (!meant) return nothing;
  return html`<p><button class="next meant" type="button" dir="auto" ?disabled=${!ready} @click=${() => ask(meant)}>${texts.meant} <em>${meant}</em></button></p>`;
}

/** What answers: sentence by sentence, or what was prepared in one piece. Words that are not the book's are set apart. */
function saysView(turn: Turn, actions: TurnActions): TemplateResult | typeof nothing {
  const {texts} = actions;
  const context = sentenceActions(turn, actions);
  const said = saidOf(turn);
  if (!said.length && !turn.sentences.length) return nothing;
  return html`<div class="text">${blocksView(said, context)}${wordsView(turn.sentences, turn.preparedBy, context)}</div>
    ${turn.preparedBy ? html`<p class="label" dir="auto">${texts.preparedBy(turn.preparedBy)}</p>` : nothing}`;
}

function sentenceActions(turn: Turn, actions: TurnActions): SentenceActions {
  return {
    texts: actions.texts,
    copy: actions.copy,
    cite: (n) => {
      const citation = citationOf(turn, n);
      return citation && citeView(citation, actions);
    },
    compare: (citations, event) => actions.compare(turn, citations, event),
  };
}

function chip(words: string, act: () => void, {ready}: TurnActions): TemplateResult {
  return html`<p><button class="chip" type="button" ?disabled=${!ready} @click=${act}>${words}</button></p>`;
}

function citeView(citation: Citation, {texts, hrefOf, tabOf}: TurnActions): TemplateResult {
  return html`<a class="cite" href=${hrefOf(citation)} target=${tabOf(citation) ?? nothing} .citation=${citation} aria-describedby="preview"
    aria-label=${texts.source(citation.n, citation.section_title)}>${citation.n}</a>`;
}

/** What is being done for the reader at this moment. */
function progressView({queue, working, resuming, explaining, state, sentences, sources}: Turn, texts: Texts): TemplateResult {
  let words = texts.searching;
  if (resuming) words = texts.resuming;
  else if (queue) words = texts.queued(queue.position, queue.eta_s);
  else if (working?.what === 'writing' || (sentences.length && !explaining)) words = texts.modelWrites;
  else if (explaining) words = working?.eta_s ? `${texts.modelReads}, ${texts.about(working.eta_s)}` : texts.modelReads;
  else if (sources.length || state === 'streaming') words = texts.reading;
  return html`<p class="progress"><span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>${words}</p>`;
}

/** Up to three questions: what to ask next, or, where the book may not answer, what it says of the topics that it covers. */
function suggestionsView({kind, closest, suggestions}: Turn, {texts, ready, ask}: TurnActions): TemplateResult | typeof nothing {
  if (!suggestions.length) return nothing;
  const refused = closest || kind === 'refusal';
  return html`<div class="suggestions"><p class="label">${refused ? texts.covered : texts.askNext}</p>${suggestions.slice(0, MOST_SUGGESTIONS).map(
    (words) =>
      html`<button class="next" type="button" dir="auto" ?disabled=${!ready} @click=${() => ask(refused ? texts.askAbout(words) : words)}>${words}</button>`,
  )}</div>`;
}

function footerView(turn: Turn, isLast: boolean, actions: TurnActions): TemplateResult {
  const {texts, ready, retry, copy, judge, commenting} = actions;
  const retryable = isLast && turn.question && turn.state !== 'done';
  const judgeable = turn.state === 'done' && turn.messageId;
  return html`<footer>
      ${timeView(turn.asked)}
      <span class="actions">
        ${retryable ? tool('retry', texts.retry, () => retry(turn), {disabled: !ready, word: true}) : nothing}
        ${turn.text || turn.sentences.length || turn.excerpts.length ? tool('copy', texts.copy, (event) => copy(answerText(turn, actions.hrefOf), event)) : nothing}
        ${judgeable ? tool('up', texts.good, () => judge(turn, 'up'), {pressed: turn.verdict === 'up'}) : nothing}
        ${judgeable ? tool('down', texts.bad, () => judge(turn, 'down'), {pressed: turn.verdict === 'down'}) : nothing}
      </span>
    </footer>
    ${commenting === turn
      ? html`<form class="comment" @submit=${(event: SubmitEvent) => actions.comment(turn, event)}>
          <input name="comment" maxlength="2000" autocomplete="off" aria-label=${texts.whatWasWrong} placeholder=${texts.whatWasWrong} />
          <button class="chip">${texts.sendComment}</button>
        </form>`
      : nothing}`;
}

interface ToolState {
  disabled?: boolean;
  pressed?: boolean;
  /** Show the word beside the icon. */
  word?: boolean;
}

/** A button with an icon, which its name describes. */
export function tool(name: IconName, label: string, act: (event: Event) => void, state: ToolState = {}): TemplateResult {
  return html`<button class=${state.word ? 'chip' : 'icon'} type="button" title=${label} aria-label=${label}
    aria-pressed=${state.pressed ?? nothing} ?disabled=${state.disabled ?? false} @click=${act}>${icon(name)}${
      state.word ? html`<span>${label}</span>` : nothing
    }</button>`;
}

function timeView(moment: Date | undefined): TemplateResult | typeof nothing {
  if (!moment?.getTime()) return nothing; // none, or what no clock says
  const day = moment.toDateString() !== new Date().toDateString() && ({day: 'numeric', month: 'short'} as const);
  const words = moment.toLocaleString([], {...day, hour: '2-digit', minute: '2-digit'});
  return html`<time datetime=${moment.toISOString()}>${words}</time>`;
}
