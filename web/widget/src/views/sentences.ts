import {html, nothing, type TemplateResult} from 'lit';
import type {Block, Sentence} from '../wire.ts';
import {blocksOf} from '../words.ts';
import {blocksView, inlinesView, type TextContext} from './blocks.ts';

export interface SentenceActions extends TextContext {
  /** Shows the passage that a sentence is to be compared with. */
  compare: (citations: readonly number[], event: Event) => void;
}

/** Sentences as the paragraphs that they make; a row, a step or code of the book stands in its own block. */
export function sentencesView(sentences: readonly Sentence[], actions: SentenceActions): unknown[] {
  const parts: unknown[] = [];
  let line: unknown[] = [];
  const end = (): void => {
    if (line.length) parts.push(html`<p dir="auto">${line}</p>`);
    line = [];
  };
  sentences.forEach((sentence, at) => {
    const next = sentences[at + 1];
    const blocks = blocksOf(sentence.blocks, sentence.text);
    const [first] = blocks;
    const goesOn = next?.support === sentence.support && isInline(blocksOf(next.blocks, next.text)) && String(next.citations) === String(sentence.citations);
    const marker = goesOn && isInline(blocks) ? nothing : markerView(sentence, actions);
    if (first?.type === 'paragraph' && isInline(blocks)) {
      const words = inlinesView(first.children, actions);
      line.push(line.length ? ' ' : nothing, sentence.support === 'likely' ? html`<span class="likely">${words}</span>` : words, marker);
      return;
    }
    end();
    parts.push(sentence.support === 'likely' ? html`<div class="likely">${blocksView(blocks, actions)}</div>` : blocksView(blocks, actions), html`<p class="cites">${marker}</p>`);
  });
  end();
  return parts;
}

function isInline(blocks: readonly Block[]): boolean {
  return blocks.length === 1 && blocks[0]?.type === 'paragraph';
}

/** The sources of a sentence, and whether the book says it in other words. */
function markerView({citations, support}: Sentence, {texts, cite, compare}: SentenceActions): unknown {
  const sources = citations.map((n) => cite(n) ?? nothing);
  if (support !== 'likely') return html` ${sources}`;
  return html` ${sources}<button class="grade" type="button" title=${texts.compare} @click=${(event: Event) => compare(citations, event)}>${texts.notWordForWord}</button>`;
}

/** Whose words those under *In other words* are. */
export function ownView(own: readonly Sentence[], who: string, actions: SentenceActions): TemplateResult | typeof nothing {
  const {texts} = actions;
  if (!own.length) return nothing;
  return html`<section class="own" aria-label=${texts.ownWords}>
    <p class="label"><b>${texts.ownWords}</b> ${texts.ownWordsOf(who)}</p>
    ${sentencesView(own, actions)}
  </section>`;
}
