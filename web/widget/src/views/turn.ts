import {html, nothing, type TemplateResult} from 'lit';
import {citationOf, textOf, type Turn} from '../conversation.ts';
import type {Texts} from '../texts.ts';
import type {Citation, Verdict} from '../wire.ts';
import {excerptsView} from './excerpts.ts';
import {icon, type IconName} from './icons.ts';
import {markdownView, type MarkdownContext} from './markdown.ts';

export interface TurnActions {
  texts: Texts;
  /** Another question may be sent now. */
  ready: boolean;
  /** The turn whose reader may say what was wrong. */
  commenting: Turn | undefined;
  hrefOf: (citation: Citation) => string;
  retry: (turn: Turn) => void;
  searchBook: (turn: Turn) => void;
  ask: (question: string) => void;
  copy: (text: string, event: Event) => void;
  judge: (turn: Turn, verdict: Verdict) => void;
  comment: (turn: Turn, event: SubmitEvent) => void;
}

/** A question and its answer. */
export function turnView(turn: Turn, isLast: boolean, actions: TurnActions): TemplateResult {
  return html`${turn.question ? questionView(turn, actions) : nothing}${answerView(turn, isLast, actions)}`;
}

function questionView({question, selectedText, asked}: Turn, {texts}: TurnActions): TemplateResult {
  return html`<article class="message user" aria-label=${texts.you}>
    ${selectedText ? html`<blockquote class="selected" dir="auto">${selectedText}</blockquote>` : nothing}
    <div class="text" dir="auto">${question}</div>
    ${timeView(asked)}
  </article>`;
}

function answerView(turn: Turn, isLast: boolean, actions: TurnActions): TemplateResult {
  const {texts} = actions;
  const text = textOf(turn);
  const context: MarkdownContext = {
    texts,
    copy: actions.copy,
    cite: (n) => {
      const citation = citationOf(turn, n);
      return citation && citeView(citation, actions);
    },
  };
  const running = turn.state === 'waiting' || turn.state === 'streaming';
  return html`<article class="message book" aria-label=${texts.book} aria-busy=${running}>
    ${text ? html`<div class="text">${markdownView(text, context)}</div>` : nothing}
    ${running ? progressView(turn, texts) : nothing}
    ${excerptsView(turn, actions)}
    ${turn.warnings.map((warning) => html`<p class="warning" dir="auto">${warning}</p>`)}
    ${turn.state === 'failed' ? html`<p class="error" role="alert">${turn.error || texts.wrong}</p>` : nothing}
    ${turn.state === 'stopped' ? html`<p class="label">${texts.stopped}</p>` : nothing}
    ${turn.refusal === 'not_in_selection'
      ? html`<button class="chip" type="button" ?disabled=${!actions.ready} @click=${() => actions.searchBook(turn)}>${texts.searchBook}</button>`
      : nothing}
    ${suggestionsView(turn, actions)}
    ${running ? nothing : footerView(turn, isLast, text, actions)}
  </article>`;
}

function citeView(citation: Citation, {texts, hrefOf}: TurnActions): TemplateResult {
  return html`<a class="cite" href=${hrefOf(citation)} .citation=${citation} aria-describedby="preview"
    aria-label=${texts.source(citation.n, citation.section_title)}>${citation.n}</a>`;
}

function progressView({queue, resuming, state}: Turn, texts: Texts): TemplateResult {
  const words = resuming
    ? texts.resuming
    : queue
      ? texts.queued(queue.position, queue.eta_s)
      : state === 'streaming'
        ? texts.writing
        : texts.searching;
  return html`<p class="progress"><span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>${words}</p>`;
}

/** Up to three questions: what to ask next, or, of a refusal, what the book says of the topics that it covers. */
function suggestionsView({kind, suggestions}: Turn, {texts, ready, ask}: TurnActions): TemplateResult | typeof nothing {
  if (!suggestions.length) return nothing;
  const refused = kind === 'refusal';
  return html`<div class="suggestions"><span class="label">${refused ? texts.covered : texts.askNext}</span>${suggestions.map(
    (words) =>
      html`<button class="chip" type="button" dir="auto" ?disabled=${!ready} @click=${() => ask(refused ? texts.askAbout(words) : words)}>${words}</button>`,
  )}</div>`;
}

function footerView(turn: Turn, isLast: boolean, text: string, actions: TurnActions): TemplateResult {
  const {texts, ready, retry, copy, judge, commenting} = actions;
  const retryable = isLast && turn.question && (turn.state !== 'done' || turn.kind === 'extractive');
  const judgeable = turn.state === 'done' && turn.messageId;
  return html`<footer>
      ${timeView(turn.answered)}
      <span class="actions">
        ${retryable ? tool('retry', texts.retry, () => retry(turn), {disabled: !ready, word: turn.state !== 'done'}) : nothing}
        ${text || turn.excerpts.length ? tool('copy', texts.copy, (event) => copy(copyOf(turn, text, actions), event)) : nothing}
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

function tool(name: IconName, label: string, act: (event: Event) => void, state: ToolState = {}): TemplateResult {
  return html`<button class=${state.word ? 'chip' : 'icon'} type="button" title=${label} aria-label=${label}
    aria-pressed=${state.pressed ?? nothing} ?disabled=${state.disabled ?? false} @click=${act}>${icon(name)}${
      state.word ? html`<span>${label}</span>` : nothing
    }</button>`;
}

/** An answer for the clipboard: its text, then where each source that it cites stands. */
function copyOf(turn: Turn, shown: string, {hrefOf}: TurnActions): string {
  const text = turn.text || [shown, ...turn.excerpts.map((excerpt) => `${excerpt.text} [${excerpt.n}]`)].filter(Boolean).join('\n\n');
  const lines = turn.sources
    .filter(({n}) => text.includes(`[${n}]`))
    .map((source) => `[${source.n}] ${[source.chapter, source.section_title].filter(Boolean).join(', ')} (${hrefOf(source)})`);
  return lines.length ? `${text}\n\n${lines.join('\n')}` : text;
}

function timeView(moment: Date | undefined): TemplateResult | typeof nothing {
  if (!moment || Number.isNaN(moment.getTime())) return nothing;
  const today = moment.toDateString() === new Date().toDateString();
  const words = today
    ? moment.toLocaleTimeString([], {hour: '2-digit', minute: '2-digit'})
    : moment.toLocaleString([], {day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit'});
  return html`<time datetime=${moment.toISOString()}>${words}</time>`;
}
