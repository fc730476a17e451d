import {html, nothing, type TemplateResult} from 'lit';
import {citationOf, type Turn} from '../conversation.ts';
import {parseExcerpt, type Block} from '../markdown/index.ts';
import type {Excerpt} from '../wire.ts';
import {blocksView} from './markdown.ts';
import type {TurnActions} from './turn.ts';

/** The one card of an answer that holds the book's own words. */
export function excerptsView(turn: Turn, actions: TurnActions): TemplateResult | typeof nothing {
  const {excerpts} = turn;
  if (!excerpts.length) return nothing;
  const {texts} = actions;
  return html`<section class="from-book" aria-label=${texts.fromBook}>
    <p class="label">${texts.fromBook}</p>
    ${excerpts.map((excerpt, index) => excerptView(excerpt, turn, actions, excerpts[index - 1]?.url === excerpt.url))}
  </section>`;
}

/** @param goesOn The excerpt before it stands in the same section, so that the place is known. */
function excerptView(excerpt: Excerpt, turn: Turn, {texts, hrefOf, copy, newTab}: TurnActions, goesOn: boolean): TemplateResult {
  const citation = citationOf(turn, excerpt.n);
  const path = placeOf(excerpt, citation?.chapter) || texts.selection;
  const place =
    citation && excerpt.url
      ? html`<a class="place" dir="auto" href=${hrefOf(citation)} target=${newTab ? '_blank' : nothing} .citation=${citation}>${path}</a>`
      : html`<span class="place" dir="auto">${path}</span>`;
  const blocks = blocksOf(excerpt);
  return html`<figure>
    ${goesOn ? nothing : html`<figcaption>${place}</figcaption>`}
    <blockquote dir="auto">${blocksView(blocks, {texts, copy, cite: () => undefined})}</blockquote>
  </figure>`;
}

/** An excerpt never changes, and a conversation is drawn anew with every event. */
const parsed = new WeakMap<Excerpt, Block[]>();

function blocksOf(excerpt: Excerpt): Block[] {
  const blocks = parsed.get(excerpt) ?? withCuts(parseExcerpt(excerpt.text, excerpt.marks), excerpt);
  parsed.set(excerpt, blocks);
  return blocks;
}

/** An ellipsis where the book goes on: in the paragraph itself, else in one of its own. */
function withCuts(blocks: readonly Block[], {cut_before, cut_after}: Excerpt): Block[] {
  const whole = [...blocks];
  const dots = (text: string): Block => ({type: 'paragraph', children: [{type: 'text', text}]});
  if (cut_after) {
    const last = whole.at(-1);
    if (last?.type === 'paragraph') whole.splice(-1, 1, {...last, children: [...last.children, {type: 'text', text: ' …'}]});
    else whole.push(dots('…'));
  }
  if (cut_before) {
    const first = whole[0];
    if (first?.type === 'paragraph') whole.splice(0, 1, {...first, children: [{type: 'text', text: '… '}, ...first.children]});
    else whole.unshift(dots('…'));
  }
  return whole;
}

/** Chapter and section, each said once. */
function placeOf({heading_path}: Excerpt, chapter = ''): string {
  const section = heading_path.at(-1) ?? '';
  return [...new Set([chapter || (heading_path[0] ?? ''), section])].filter(Boolean).join(' › ');
}
