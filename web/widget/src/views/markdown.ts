import {html, nothing, type TemplateResult} from 'lit';
import {parseMarkdown, safeHref, type Block, type Inline} from '../markdown/index.ts';
import type {Texts} from '../texts.ts';
import {icon} from './icons.ts';
import {mathsView} from './maths.ts';

/** What a text needs from where it is shown. */
export interface MarkdownContext {
  texts: Texts;
  /** Draws the marker `[n]`; undefined: there is no such source. */
  cite: (n: number) => TemplateResult | undefined;
  /** Copies code; undefined: no button. */
  copy?: (text: string, event: Event) => void;
}

/**
 * A Markdown text as templates. Every piece of it ends up as a text node or as an attribute that was checked: there is
 * no way from here to markup, so a hostile book can at worst look odd.
 */
export function markdownView(source: string, context: MarkdownContext): unknown {
  return blocksView(parseMarkdown(source), context);
}

/** Blocks as templates; see `markdownView`. */
export function blocksView(blocks: readonly Block[], context: MarkdownContext, tight = false): unknown[] {
  return blocks.map((block) => blockView(block, context, tight));
}

function blockView(block: Block, context: MarkdownContext, tight: boolean): unknown {
  switch (block.type) {
    case 'paragraph': {
      const words = inlinesView(block.children, context);
      if (tight) return words;
      // Behind a list, a table or code the markers stand alone, and belong to what is above them.
      const alone = block.children.every((node) => node.type === 'cite' || (node.type === 'text' && !node.text.trim()));
      return html`<p class=${alone ? 'cites' : ''} dir="auto">${words}</p>`;
    }
    case 'heading':
      return html`<p class="heading" dir="auto">${inlinesView(block.children, context)}</p>`;
    case 'code':
      return codeView(block, context);
    case 'quote':
      return html`<blockquote>${blocksView(block.blocks, context)}</blockquote>`;
    case 'list': {
      const items = block.items.map(
        ({checked, blocks}) => html`<li dir="auto">${checked === undefined ? nothing : checked ? '☑ ' : '☐ '}${blocksView(blocks, context, block.tight)}</li>`,
      );
      return block.start === undefined ? html`<ul>${items}</ul>` : html`<ol start=${block.start}>${items}</ol>`;
    }
    case 'table':
      return tableView(block.header, block.rows, context);
    case 'rule':
      return html`<hr />`;
  }
}

function codeView({text, language, marks = []}: Block & {type: 'code'}, {texts, copy}: MarkdownContext): TemplateResult {
  if (language === 'mermaid') return html`<p class="image">${texts.diagram}</p>`;
  const button = copy
    ? html`<button class="icon" type="button" aria-label=${texts.copyCode} title=${texts.copyCode}
        @click=${(event: Event) => copy(text, event)}>${icon('copy')}</button>`
    : nothing;
  return html`<div class="code" dir="ltr">
    ${copy || language ? html`<div class="language"><span>${language}</span>${button}</div>` : nothing}
    <pre tabindex="0"><code>${marks.length ? markedView(text, marks) : text}</code></pre>
  </div>`;
}

function markedView(text: string, marks: readonly [number, number][]): unknown[] {
  const ends = [0, ...marks.flat(), text.length];
  const parts = ends.slice(1).map((end, index) => text.slice(ends[index], end));
  return parts.map((part, index) => (index % 2 ? html`<mark>${part}</mark>` : part));
}

function tableView(header: Inline[][], rows: Inline[][][], context: MarkdownContext): TemplateResult {
  const cell = (content: Inline[]): unknown => inlinesView(content, context);
  return html`<div class="table" tabindex="0">
    <table>
      ${header.length ? html`<thead><tr>${header.map((head) => html`<th scope="col" dir="auto">${cell(head)}</th>`)}</tr></thead>` : nothing}
      <tbody>${rows.map((row) => html`<tr>${row.map((data) => html`<td dir="auto">${cell(data)}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`;
}

/** Inline content as templates; see `markdownView`. */
export function inlinesView(nodes: readonly Inline[], context: MarkdownContext): unknown[] {
  return nodes.map((node) => inlineView(node, context));
}

function inlineView(node: Inline, context: MarkdownContext): unknown {
  switch (node.type) {
    case 'text':
      return node.text;
    case 'code':
      return html`<code dir="ltr">${node.text}</code>`;
    case 'strong':
      return html`<strong>${inlinesView(node.children, context)}</strong>`;
    case 'em':
      return html`<em>${inlinesView(node.children, context)}</em>`;
    case 'del':
      return html`<del>${inlinesView(node.children, context)}</del>`;
    case 'mark':
      return html`<mark>${inlinesView(node.children, context)}</mark>`;
    case 'break':
      return html`<br />`;
    case 'cite':
      return context.cite(node.n) ?? node.raw;
    case 'math':
      return mathsView(node.tex, node.display);
    case 'image':
      // Loading it would tell another server who reads what.
      return html`<span class="image">${context.texts.image(node.alt)}</span>`;
    case 'link': {
      const words = inlinesView(node.children, context);
      const href = safeHref(node.href);
      return href ? html`<a href=${href} target="_blank" rel="noopener noreferrer">${words}</a>` : words;
    }
  }
}
