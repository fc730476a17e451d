import {html, nothing, type TemplateResult} from 'lit';
import type {Texts} from '../texts.ts';
import type {StoredSession} from '../wire.ts';
import {icon} from './icons.ts';

export interface ConversationsState {
  texts: Texts;
  /** undefined: not read yet. */
  sessions: readonly StoredSession[] | undefined;
  failed: boolean;
  current: string;
  /** Id of the conversation that is being renamed, or of the one that may be deleted. */
  renaming: string;
  removing: string;
  open: (session: StoredSession) => void;
  rename: (session: StoredSession) => void;
  saveName: (session: StoredSession, event: SubmitEvent) => void;
  remove: (session: StoredSession) => void;
  removeForGood: (session: StoredSession) => void;
  cancel: () => void;
  save: (session: StoredSession, form: 'markdown' | 'json') => void;
}

/** This browser's conversations, the one used last first. */
export function conversationsView(state: ConversationsState): TemplateResult {
  const {texts, sessions, failed} = state;
  if (failed) return html`<p class="error" role="alert">${texts.wrong}</p>`;
  if (!sessions) return html`<p class="progress"><span class="dots" aria-hidden="true"><i></i><i></i><i></i></span></p>`;
  if (!sessions.length) return html`<p class="empty">${texts.noConversations}</p>`;
  return html`<ul class="conversations">${sessions.map((session) => rowView(session, state))}</ul>`;
}

function rowView(session: StoredSession, state: ConversationsState): TemplateResult {
  const {texts, current, renaming, removing} = state;
  const inner =
    renaming === session.id ? nameView(session, state) : removing === session.id ? removeView(session, state) : openView(session, state);
  return html`<li aria-label=${session.title || texts.untitled} class=${session.id === current ? 'current' : ''}>${inner}</li>`;
}

function openView(session: StoredSession, {texts, current, open, rename, remove, save}: ConversationsState): TemplateResult {
  const day = new Date(session.updated).toLocaleDateString([], {day: 'numeric', month: 'short'});
  const title = session.title || texts.untitled;
  return html`
    <button class="open" type="button" aria-current=${session.id === current ? 'true' : nothing} @click=${() => open(session)}>
      <span class="title"><bdi>${title}</bdi></span>
    </button>
    <span class="label">${day} · ${texts.questions(session.message_count)}</span>
    <button class="icon" type="button" aria-label=${texts.rename} title=${texts.rename} @click=${() => rename(session)}>${icon('edit')}</button>
    <button class="icon named" type="button" aria-label=${texts.exportMarkdown} title=${texts.exportMarkdown} @click=${() => save(session, 'markdown')}>${icon('save')}<span>md</span></button>
    <button class="icon named" type="button" aria-label=${texts.exportJson} title=${texts.exportJson} @click=${() => save(session, 'json')}>${icon('save')}<span>json</span></button>
    <button class="icon" type="button" aria-label=${texts.remove} title=${texts.remove} @click=${() => remove(session)}>${icon('trash')}</button>
  `;
}

function nameView(session: StoredSession, {texts, saveName, cancel}: ConversationsState): TemplateResult {
  return html`<form @submit=${(event: SubmitEvent) => saveName(session, event)} @keydown=${cancelOnEscape(cancel)}>
    <input name="title" maxlength="200" autocomplete="off" aria-label=${texts.name} .value=${session.title}
      @focus=${(event: Event) => (event.target as HTMLInputElement).select()} />
    <button class="chip">${texts.save}</button>
    <button class="chip" type="button" @click=${cancel}>${texts.cancel}</button>
  </form>`;
}

function removeView(session: StoredSession, {texts, removeForGood, cancel}: ConversationsState): TemplateResult {
  const question = texts.removeQuestion(session.title || texts.untitled);
  return html`<div class="confirm" role="group" aria-label=${question} @keydown=${cancelOnEscape(cancel)}>
    <span dir="auto">${question}</span>
    <button class="chip danger" type="button" @click=${() => removeForGood(session)}>${texts.remove}</button>
    <button class="chip" type="button" @click=${cancel}>${texts.cancel}</button>
  </div>`;
}

function cancelOnEscape(cancel: () => void): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    cancel();
  };
}
