import {html, nothing, type TemplateResult} from 'lit';
import {bookOf, citationOf, saidOf, type Turn} from '../conversation.ts';
import {folded, stands} from '../fold.ts';
import type {Block, Citation, Excerpt} from '../wire.ts';
import {blocksOf} from '../words.ts';
import {blocksView} from './blocks.ts';
import {icon} from './icons.ts';
import type {TurnActions} from './turn.ts';

/**
 * The one card of an answer that holds the book's own words: below an answer, and while one is written, folded to those
 * that answer; to its heading line where they stand above. The closest passage, and what answers alone, is whole.
 */
export function excerptsView(turn: Turn, actions: TurnActions): TemplateResult | typeof nothing {
  const {excerpts, closest, confirmed, sentences, state} = turn;
  if (!excerpts.length) return nothing;
  const {texts} = actions;
  const above = [...saidOf(turn), ...sentences.flatMap((sentence) => blocksOf(sentence.blocks, sentence.text))];
  const foldable = !closest && above.length > 0;
  const isFolded = (foldable && !actions.unfolded(turn)) || (!closest && state === 'streaming' && !foldable);
  const shown = excerpts.map((excerpt): readonly Block[] => {
    if (!isFolded) return wholeOf(excerpt);
    const marked = markedOf(excerpt);
    if (foldable && stands(marked, above)) return [];
    return marked.length ? marked : wholeOf(excerpt);
  });
  return html`<section class=${closest ? 'from-book closest' : 'from-book'} role="group" aria-label=${texts.fromBook}>
    <div class="label bar">
      <span>${confirmed ? texts.passageAnswers : closest ? texts.closestPassage : texts.fromBook}</span>
      ${foldable
        ? html`<button class="icon fold" type="button" aria-expanded=${isFolded ? 'false' : 'true'} aria-label=${texts.wholePassage} title=${texts.wholePassage}
            @click=${() => actions.fold(turn)}>${icon('fold')}</button>`
        : nothing}
    </div>
    ${excerpts.map((excerpt, index) => excerptView(excerpt, shown[index] ?? [], turn, actions, excerpts[index - 1]?.url === excerpt.url))}
  </section>`;
}

/** @param goesOn The excerpt before it stands in the same section, so that the place is known. */
function excerptView(excerpt: Excerpt, shown: readonly Block[], turn: Turn, {texts, hrefOf, tabOf, book, copy}: TurnActions, goesOn: boolean): TemplateResult {
  const citation = citationOf(turn, excerpt.n);
  const path = placeOf(excerpt, citation, book) || texts.selection;
  const place =
    citation && excerpt.url
      ? html`<a class="place" dir="auto" href=${hrefOf(citation)} target=${tabOf(citation) ?? nothing} .citation=${citation}>${path}</a>`
      : html`<span class="place" dir="auto">${path}</span>`;
  return html`<figure data-n=${excerpt.n}>
    ${goesOn ? nothing : html`<figcaption>${place}</figcaption>`}
    ${shown.length ? html`<blockquote dir="auto">${blocksView(shown, {texts, copy, cite: () => undefined})}</blockquote>` : nothing}
  </figure>`;
}

/** An excerpt never changes, and a conversation is drawn anew with every event. */
const wholes = new WeakMap<Excerpt, readonly Block[]>();
const parts = new WeakMap<Excerpt, readonly Block[]>();

function wholeOf(excerpt: Excerpt): readonly Block[] {
  return once(wholes, excerpt, () => withCuts(blocksOf(excerpt.blocks, excerpt.text), excerpt));
}

/** What is marked of an excerpt; all of it where all is. */
function markedOf(excerpt: Excerpt): readonly Block[] {
  return once(parts, excerpt, () => {
    const {text, marks} = excerpt;
    const blocks = blocksOf(excerpt.blocks, text);
    return marks.some(([from, to]) => from === 0 && to >= Array.from(text).length) ? blocks : folded(blocks);
  });
}

function once<Key extends object, Value>(known: WeakMap<Key, Value>, key: Key, make: () => Value): Value {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}

/** An ellipsis where the book goes on: in the paragraph itself, else in one of its own. */
function withCuts(blocks: readonly Block[], {cut_before, cut_after}: Excerpt): Block[] {
  const whole = [...blocks];
  const dots = (text: string): Block => ({type: 'paragraph', children: [text]});
  if (cut_after) {
    const last = whole.at(-1);
    if (last?.type === 'paragraph') whole.splice(-1, 1, {...last, children: [...last.children, ' …']});
    else whole.push(dots('…'));
  }
  if (cut_before) {
    const first = whole[0];
    if (first?.type === 'paragraph') whole.splice(0, 1, {...first, children: ['… ', ...first.children]});
    else whole.unshift(dots('…'));
  }
  return whole;
}

/** A book that is not open, chapter and section, each said once. */
function placeOf({heading_path}: Excerpt, citation: Citation | undefined, book: string | null): string {
  return [...new Set([citation && bookOf(citation, book), citation?.chapter || heading_path[0], heading_path.at(-1)])].filter(Boolean).join(' › ');
}
