import {html, nothing, type TemplateResult} from 'lit';
import type {CitationLink, LutrinChat} from '../chat.ts';
import type {Citation} from '../wire.ts';
import {composerView} from './composer.ts';
import {conversationsView} from './conversations.ts';
import {previewView, toolbarView} from './floating.ts';
import {icon, type IconName} from './icons.ts';
import {turnView, type TurnActions} from './turn.ts';

/** Everything that the element draws. */
export function chatView(chat: LutrinChat): TemplateResult {
  const {words: texts, open, selecting, preview} = chat;
  const link =
    preview.citation && preview.tapped
      ? {href: chat.hrefOf(preview.citation), follow: (event: Event) => citationPressed(chat, event as MouseEvent)}
      : undefined;
  return html`
    ${open
      ? panelView(chat)
      : html`<button class="bubble" type="button" part="bubble" aria-label=${texts.open} title=${texts.open} aria-haspopup="dialog"
          @click=${() => void chat.show()}>${icon('book')}</button>
        ${chat.invitation.shown ? html`<span class="invitation" aria-hidden="true" @click=${() => void chat.show()}>${texts.open}</span>` : nothing}`}
    ${selecting.text ? toolbarView(texts, (action) => chat.act(action), () => selecting.hide()) : nothing}
    ${previewView(preview.citation, texts, link, {enter: () => preview.keep(), leave: () => preview.leave()})}
    <div class="status" role="status">${chat.status}</div>
  `;
}

function panelView(chat: LutrinChat): TemplateResult {
  const {words: texts, view, conversation, identity, list} = chat;
  return html`<section class="panel" part="panel" role="dialog" aria-label=${texts.title} aria-modal=${chat.narrowOpen ? 'true' : nothing}
    tabindex="-1" @keydown=${(event: KeyboardEvent) => panelKey(chat, event)}
    @pointerdown=${(event: PointerEvent) => panelTouched(chat, event)}>
    <div class="head">
      ${view === 'list'
        ? iconButton('back', texts.back, () => chat.showChat())
        : iconButton('list', texts.conversations, () => chat.showList())}
      <h2>${view === 'list' ? texts.conversations : texts.title}</h2>
      ${iconButton('plus', texts.newConversation, () => chat.startNew())}
      ${iconButton('close', texts.close, () => void chat.close())}
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

function messagesView(chat: LutrinChat): TemplateResult {
  const {words: texts, conversation} = chat;
  const {turns, phase} = conversation;
  const actions: TurnActions = {
    texts,
    ready: conversation.ready,
    commenting: chat.commenting,
    hrefOf: (citation) => chat.hrefOf(citation),
    retry: (turn) => chat.retry(turn),
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
        ? html`<div class="greeting"><p class="question">${texts.greeting}</p><p>${texts.hint}</p></div>`
        : nothing}
      ${turns.map((turn, index) => turnView(turn, index === turns.length - 1, actions))}
    </div>
    ${chat.scrolling.below
      ? html`<div class="below"><button class="round" type="button" aria-label=${texts.toLatest} title=${texts.toLatest}
          @click=${() => chat.scrolling.toEnd(chat.messages)}>${icon('arrow')}</button></div>`
      : nothing}`;
}

function restoreErrorView(chat: LutrinChat): TemplateResult {
  const {words: texts, server} = chat;
  return html`<article class="message book"><p class="error" role="alert">${texts.wrong}</p>
    ${server ? html`<button class="chip" type="button" @click=${() => chat.restoreAgain()}>${icon('retry')}<span>${texts.retry}</span></button>` : nothing}
  </article>`;
}

function iconButton(name: IconName, label: string, act: () => void): TemplateResult {
  return html`<button class="icon" type="button" aria-label=${label} title=${label} @click=${act}>${icon(name)}</button>`;
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

function panelKey(chat: LutrinChat, event: KeyboardEvent): void {
  chat.touched = false;
  if (event.key === 'Escape') {
    event.stopPropagation();
    if (chat.preview.citation) chat.preview.hide();
    else if (chat.view === 'list') chat.showChat();
    else void chat.close();
  } else if (event.key === 'Tab' && chat.narrowOpen) {
    keepInside(chat, event);
  }
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
