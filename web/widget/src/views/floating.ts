import {html, nothing, type TemplateResult} from 'lit';
import type {Texts} from '../texts.ts';
import type {Citation} from '../wire.ts';
import {bookOf} from '../conversation.ts';
import {blocksOf} from '../words.ts';
import {blocksView} from './blocks.ts';

export type SelectionAction = 'ask' | 'explain' | 'simplify' | 'highlight' | 'note';

/** What can be done with selected text. */
export function toolbarView(
  texts: Texts,
  actions: readonly SelectionAction[],
  act: (action: SelectionAction) => void,
  leave: () => void,
): TemplateResult {
  return html`<div class="toolbar" role="toolbar" aria-label=${texts.toolbar} @keydown=${(event: KeyboardEvent) => toolbarKey(event, leave)}
    @pointerdown=${(event: Event) => event.preventDefault()} @mousedown=${(event: Event) => event.preventDefault()}>
    ${actions.map(
      (action, index) => html`<button type="button" tabindex=${index ? -1 : 0} @click=${() => act(action)}>${texts[action]}</button>`,
    )}
  </div>`;
}

/** The arrow keys go from button to button, Escape leaves. */
function toolbarKey(event: KeyboardEvent, leave: () => void): void {
  const buttons = [...(event.currentTarget as HTMLElement).querySelectorAll('button')];
  const at = buttons.indexOf(event.target as HTMLButtonElement);
  const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
  if (event.key === 'Escape') leave();
  else if (step) buttons.at((at + step) % buttons.length)?.focus();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** The quoted sentence and where it stands; kept in the tree while empty, for citations are described by it. */
export function previewView(
  citation: Citation | undefined,
  open: string | null,
  texts: Texts,
  link: {href: string; tab: string | undefined; follow: (event: Event) => void} | undefined,
  stay: {enter: () => void; leave: () => void},
): TemplateResult {
  return html`<div id="preview" class="preview" role="tooltip" ?hidden=${!citation} @pointerenter=${stay.enter} @pointerleave=${stay.leave}>
    ${citation
      ? html`<blockquote dir="auto">${blocksView(blocksOf(citation.blocks, citation.quote), {texts, cite: () => undefined})}</blockquote>
          <p class="label" dir="auto">${placeOf(citation, open, texts)}</p>
          ${link
            ? html`<a class="chip" href=${link.href} target=${link.tab ?? nothing} .citation=${citation} @click=${link.follow}>${texts.openSource}</a>`
            : nothing}`
      : nothing}
  </div>`;
}

function placeOf(citation: Citation, open: string | null, texts: Texts): string {
  return [bookOf(citation, open), citation.chapter, citation.section_title, citation.page && texts.page(citation.page)].filter(Boolean).join(' › ');
}
