import {html, nothing, type TemplateResult} from 'lit';
import type {CitationLink, LutrinChat} from '../chat.ts';
import type {Citation} from '../wire.ts';
import {composerView} from './composer.ts';
import {conversationsView} from './conversations.ts';
import {previewView, toolbarView} from './floating.ts';
import {icon} from './icons.ts';
import {tool, turnView, type TurnActions} from './turn.ts';

/** Everything that the element draws. */
export function chatView(chat: LutrinChat): TemplateResult {
  const {words: texts, open, selecting, preview} = chat;
  const link =
    preview.citation && preview.tapped
      ? {href: chat.hrefOf(preview.citation), tab: chat.tabOf(preview.citation), follow: (event: Event) => citationPressed(chat, event as MouseEvent)}
      : undefined;
  return html`
    ${open
      ? panelView(chat)
      : html`<button class="bubble" type="button" part="bubble" aria-label=${texts.open} title=${texts.open} aria-haspopup="dialog"
          aria-keyshortcuts=${chat.shortcut ? `Control+${chat.shortcut.toUpperCase()}` : nothing}
          @click=${() => void chat.show()}>${icon('book')}</button>
        ${chat.invitation.shown ? html`<span class="invitation" aria-hidden="true" @click=${() => void chat.show()}>${texts.open}</span>` : nothing}`}
    ${selecting.text ? toolbarView(texts, chat.actions, (action) => chat.act(action), () => selecting.hide()) : nothing}
    ${previewView(preview.citation, chat.book, texts, link, {enter: () => preview.keep(), leave: () => preview.leave()})}
    <div class="status" role="status">${chat.status}</div>
  `;
}

function panelView(chat: LutrinChat): TemplateResult {
  const {words: texts, view, conversation, identity, list, docking} = chat;
  const pull = (event: PointerEvent): void => docking.pull(event);
  return html`${docking.stance === 'sheet' ? html`<div class="scrim" @click=${() => void chat.close()}></div>` : nothing}
    <section class="panel" part="panel" role=${docking.stance === 'docked' ? 'complementary' : 'dialog'} aria-label=${texts.title}
    aria-modal=${chat.narrowOpen ? 'true' : nothing} tabindex="-1" @keydown=${(event: KeyboardEvent) => panelKey(chat, event)}
    @pointerdown=${(event: PointerEvent) => panelTouched(chat, event)}>
    ${docking.stance === 'docked' ? edgeView(chat) : nothing}
    <div class="head" @pointerdown=${pull} @pointermove=${pull} @pointerup=${pull} @pointercancel=${pull}>
      ${view === 'list'
        ? tool('back', texts.back, () => chat.showChat())
        : tool('list', texts.conversations, () => chat.showList())}
      <h2>${view === 'list' ? texts.conversations : texts.title}</h2>
      ${tool('plus', texts.newConversation, () => chat.startNew())}
      ${tool('close', texts.close, () => void chat.close())}
    </div>
    ${view === 'list'
      ? html`<div class="messages">${conversationsView({
          texts,
          sessions: list.sessions,
          failed: list.failed,
          current: identity.session,
          renaming: list.renaming,
          removing: list.removing,
          open: (session) => chat.openSession(session),
          rename: (session) => {
            list.startRenaming(session);
            focusAfter(chat, 'input[name=title]');
          },
          saveName: (session, event) => {
            event.preventDefault();
            const title = new FormData(event.target as HTMLFormElement).get('title');
            if (chat.server) void list.rename(chat.server, session, String(title ?? ''));
            focusAfter(chat, '.conversations .open');
          },
          remove: (session) => {
            list.startRemoving(session);
            focusAfter(chat, '.confirm .danger');
          },
          removeForGood: (session) => void chat.removeSession(session),
          cancel: () => {
            list.cancel();
            focusAfter(chat, '.conversations .open');
          },
          save: (session, form) => chat.server && void list.save(chat.server, session, form),
        })}</div>`
      : html`${messagesView(chat)}
          ${composerView({
            texts,
            draft: chat.draft,
            selection: chat.selection,
            selectionOnly: chat.selectionOnly,
            phase: conversation.phase,
            wait_s: conversation.wait_s,
            limit: conversation.limit,
            type: (event) => typed(chat, event),
            key: (event) => inputKey(chat, event),
            submit: (event) => {
              event.preventDefault();
              chat.submit();
            },
            stop: () => conversation.stop(),
            removeSelection: () => {
              chat.selection = '';
              chat.focusInput();
            },
            toggleSelectionOnly: () => {
              chat.selectionOnly = !chat.selectionOnly;
            },
          })}`}
  </section>`;
}

/** Between the text and the panel: dragged, or moved by the arrow keys. */
function edgeView({docking, words}: LutrinChat): TemplateResult {
  const drag = (event: PointerEvent): void => docking.drag(event);
  return html`<div class="edge" role="separator" tabindex="0" aria-orientation="vertical" aria-label=${words.width} title=${words.width}
    aria-valuemin=${docking.least_px} aria-valuemax=${docking.most_px} aria-valuenow=${docking.width_px}
    @pointerdown=${drag} @pointermove=${drag} @dblclick=${() => docking.reset()}
    @keydown=${(event: KeyboardEvent) => docking.key(event)}></div>`;
}

function messagesView(chat: LutrinChat): TemplateResult {
  const {words: texts, conversation} = chat;
  const {turns, phase} = conversation;
  const actions: TurnActions = {
    texts,
    ready: conversation.ready,
    commenting: chat.commenting,
    aids: chat.aids,
    unfolded: (turn) => chat.unfolded.has(turn),
    fold: (turn) => chat.fold(turn),
    compare: (turn, citations, event) => void chat.compare(turn, citations, event),
    hrefOf: (citation) => chat.hrefOf(citation),
    book: chat.book,
    tabOf: (citation) => chat.tabOf(citation),
    retry: (turn) => chat.retry(turn),
    edit: (turn) => chat.edit(turn),
    explain: (turn) => void chat.explain(turn),
    stop: () => conversation.stop(),
    searchBook: (turn) => chat.searchBook(turn),
    ask: (text) => void chat.ask({text}),
    copy: (text, event) => chat.copy(text, event),
    judge: (turn, verdict) => chat.judge(turn, verdict),
    comment: (turn, event) => chat.comment(turn, event),
  };
  const over = (event: Event): void => {
    const cited = previewedAt(event);
    if (cited && (event as PointerEvent).pointerType !== 'touch') chat.preview.hover(cited.citation, cited.link);
  };
  const focused = (event: Event): void => {
    const cited = previewedAt(event);
    if (cited && !chat.touched) chat.preview.focus(cited.citation, cited.link);
  };
  const left = (event: Event): void => void (previewedAt(event) && chat.preview.leave());
  return html`<div class="messages" role="region" tabindex="0" aria-label=${texts.messages}
      @pointerover=${over} @pointerout=${left} @focusin=${focused} @focusout=${left}
      @click=${(event: MouseEvent) => citationPressed(chat, event)} @scroll=${(event: Event) => scrolled(chat, event)}>
      ${phase === 'restoring'
        ? html`<p class="progress"><span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>${texts.restoring}</p>`
        : nothing}
      ${conversation.restoreFailed || (!chat.server && !turns.length) ? restoreErrorView(chat) : nothing}
      ${phase === 'idle' && !turns.length && chat.server && !conversation.restoreFailed
        ? greetingView(chat)
        : nothing}
      ${conversation.older && phase !== 'restoring'
        ? html`<p class="older"><button class="chip" type="button" @click=${() => void chat.showOlder()}>${texts.older}</button></p>`
        : nothing}
      ${turns.map((turn, index) => turnView(turn, index === turns.length - 1, actions))}
    </div>
    ${chat.scrolling.below
      ? html`<div class="below"><button class="round" type="button" aria-label=${texts.toLatest} title=${texts.toLatest}
          @click=${() => chat.scrolling.toEnd(chat.messages)}>${icon('arrow')}</button></div>`
      : nothing}`;
}

/** Before the first question: what can be asked, and some questions to begin with. */
function greetingView(chat: LutrinChat): TemplateResult {
  const {words: texts, starters, conversation} = chat;
  return html`<div class="greeting"><p class="question">${texts.greeting}</p>${chat.selection ? nothing : html`<p>${texts.hint}</p>`}
    ${chat.model.progress ? html`<p class="coming label" role="status">${chat.model.progress}</p>` : nothing}
    ${starters?.length
      ? html`<div class="suggestions"><p class="label">${texts.starters}</p>${starters.map(
          (words) => html`<button class="next" type="button" dir="auto" ?disabled=${!conversation.ready} @click=${() => void chat.ask({text: words})}>${words}</button>`,
        )}</div>`
      : nothing}</div>`;
}

function restoreErrorView(chat: LutrinChat): TemplateResult {
  const {words: texts, server} = chat;
  return html`<article class="message book"><p class="error" role="alert">${texts.wrong}</p>
    ${server ? html`<button class="chip" type="button" @click=${() => chat.restoreAgain()}>${icon('retry')}<span>${texts.retry}</span></button>` : nothing}
  </article>`;
}

function citationAt(event: Event): {link: CitationLink; citation: Citation} | undefined {
  const link = event.composedPath().find((target): target is CitationLink => target instanceof HTMLAnchorElement);
  return link?.citation && {link, citation: link.citation};
}

/** The place above an excerpt needs no preview: its words stand below it. */
function previewedAt(event: Event): {link: CitationLink; citation: Citation} | undefined {
  const cited = citationAt(event);
  return cited?.link.matches('.place') ? undefined : cited;
}

function citationPressed(chat: LutrinChat, event: MouseEvent): void {
  const cited = citationAt(event);
  if (cited) chat.follow(event, cited.link, cited.citation);
}

function scrolled(chat: LutrinChat, event: Event): void {
  const list = event.currentTarget as HTMLElement;
  chat.preview.scrolled(list);
  if (chat.scrolling.scrolled(list)) chat.requestUpdate();
}

function typed(chat: LutrinChat, event: InputEvent): void {
  chat.draft = (event.target as HTMLTextAreaElement).value;
}

/** Enter sends, Shift+Enter breaks the line; an Enter that ends a composition is neither. */
function inputKey(chat: LutrinChat, event: KeyboardEvent): void {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  chat.submit();
}

/** On an answer, whatever is typed goes on in the input. */
function panelKey(chat: LutrinChat, event: KeyboardEvent): void {
  chat.touched = false;
  const [from] = event.composedPath();
  const typed = event.key.length === 1 && event.key !== ' ' && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (event.key === 'Tab' && chat.narrowOpen) keepInside(chat, event);
  else if (typed && from instanceof Element && from.matches('.message, .messages, .panel')) chat.focusInput();
}

/** On a small screen the panel covers the page, so the focus must not leave it. */
function keepInside(chat: LutrinChat, event: KeyboardEvent): void {
  const stops = [...(chat.panel?.querySelectorAll<HTMLElement>('a[href], button, textarea, input, [tabindex="0"]') ?? [])];
  const usable = stops.filter((element) => !element.matches(':disabled'));
  const last = event.shiftKey ? usable[0] : usable[usable.length - 1];
  const next = event.shiftKey ? usable[usable.length - 1] : usable[0];
  if (event.composedPath()[0] !== last) return;
  event.preventDefault();
  next?.focus();
}

function panelTouched(chat: LutrinChat, event: PointerEvent): void {
  chat.touched = event.pointerType === 'touch';
  if (!citationAt(event) && !(event.target as Element).closest('.preview')) chat.preview.hide();
}

function focusAfter(chat: LutrinChat, selector: string): void {
  void chat.updateComplete.then(() => chat.renderRoot.querySelector<HTMLElement>(selector)?.focus());
}
