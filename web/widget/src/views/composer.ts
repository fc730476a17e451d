import {html, nothing, type TemplateResult} from 'lit';
import type {Phase} from '../conversation.ts';
import type {Texts} from '../texts.ts';
import {icon} from './icons.ts';

export interface ComposerState {
  texts: Texts;
  draft: string;
  selection: string;
  selectionOnly: boolean;
  phase: Phase;
  /** Seconds until the next question is admitted. */
  wait_s: number;
  /** Why, in the server's words. */
  limit: string;
  type: (event: InputEvent) => void;
  key: (event: KeyboardEvent) => void;
  submit: (event: Event) => void;
  stop: () => void;
  removeSelection: () => void;
  toggleSelectionOnly: () => void;
}

/** The input row, with the selected text above it. */
export function composerView(state: ComposerState): TemplateResult {
  const {texts, draft, phase, wait_s, limit} = state;
  const asking = phase === 'asking';
  return html`<form class="composer" @submit=${state.submit}>
    ${state.selection ? chipView(state) : nothing}
    ${wait_s ? html`<p class="wait" role="timer">${limit} ${texts.wait(wait_s)}</p>` : nothing}
    <div class="row">
      <textarea rows="1" dir="auto" maxlength="8000" autocomplete="off" enterkeyhint="send"
        aria-label=${texts.message} placeholder=${texts.placeholder}
        .value=${draft} ?disabled=${phase !== 'idle'} @input=${state.type} @keydown=${state.key}></textarea>
      ${asking
        ? html`<button class="round stop" type="button" aria-label=${texts.stop} title=${texts.stop} @click=${state.stop}>${icon('stop')}</button>`
        : html`<button class="round send" aria-label=${texts.send} title=${texts.send}
            ?disabled=${phase !== 'idle' || wait_s > 0 || !draft.trim()}>${icon('send')}</button>`}
    </div>
  </form>`;
}

function chipView({texts, selection, selectionOnly, removeSelection, toggleSelectionOnly}: ComposerState): TemplateResult {
  return html`<div class="selection" role="group" aria-label=${texts.selection}>
    <blockquote dir="auto">${selection}</blockquote>
    <button class="icon" type="button" aria-label=${texts.removeSelection} title=${texts.removeSelection} @click=${removeSelection}>${icon('close')}</button>
    <label><input type="checkbox" .checked=${selectionOnly} @change=${toggleSelectionOnly} />${texts.selectionOnly}</label>
  </div>`;
}
