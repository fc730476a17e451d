import {html, nothing, type TemplateResult} from 'lit';
import type {Block, CodeBlock, Inline, Table} from '../schema.ts';
import type {Texts} from '../texts.ts';
import {inlineWords} from '../words.ts';
import {icon} from './icons.ts';
import {mathsView} from './maths.ts';

/** What a text needs from where it is shown. */
export interface TextContext {
  texts: Texts;
  /** Draws the marker `[n]`; undefined: there is no such source. */
  cite: (n: number) => TemplateResult | undefined;
  /** Copies code; undefined: no button. */
  copy?: (text: string, event: Event) => void;
}

/**
 * What a text consists of as templates. Every piece of it ends up as a text node or as an attribute that was checked:
 * there is no way from here to markup, so a hostile book can at worst look odd.
 */
export function blocksView(blocks: readonly Block[], context: TextContext, tight = false): unknown[] {
  return blocks.map((block) => blockView(block, context, tight));
}

function blockView(block: Block, context: TextContext, tight: boolean): unknown {
  switch (block.type) {
    case 'paragraph': {
      const words = inlinesView(block.children, context);
      if (tight) return words;
      // Behind a list, a table or code the markers stand alone, and belong to what is above them.
      const alone = block.children.every((node) => (typeof node === 'string' ? !node.trim() : node.type === 'cite'));
      return html`<p class=${alone ? 'cites' : ''} dir="auto">${words}</p>`;
    }
    case 'heading':
      return html`<p class="heading" dir="auto">${inlinesView(block.children, context)}</p>`;
    case 'code':
      return codeView(block, context);
    case 'quote':
      return html`<blockquote>${blocksView(block.blocks, context)}</blockquote>`;
    case 'list': {
      const items = block.items.map(({number, checked, blocks}) => {
        const alone = blocks.slice(1).every(({type}) => type === 'list');
        return html`<li dir="auto" value=${number ?? nothing}>${checked === undefined ? nothing : checked ? '☑ ' : '☐ '}${blocksView(blocks, context, alone)}</li>`;
      });
      return block.items[0]?.number === undefined ? html`<ul>${items}</ul>` : html`<ol>${items}</ol>`;
    }
    case 'table':
      return tableView(block, context);
    case 'rule':
      return html`<hr />`;
  }
}

function codeView({children, language}: CodeBlock, context: TextContext): TemplateResult {
  const {texts, copy} = context;
  if (language === 'mermaid') return html`<p class="image">${texts.diagram}</p>`;
  const button = copy
    ? html`<button class="icon" type="button" aria-label=${texts.copyCode} title=${texts.copyCode}
        @click=${(event: Event) => copy(inlineWords(children), event)}>${icon('copy')}</button>`
    : nothing;
  return html`<div class="code" dir="ltr">
    ${copy || language ? html`<div class="language"><span>${language}</span>${button}</div>` : nothing}
    <pre tabindex="0"><code>${inlinesView(children, context)}</code></pre>
  </div>`;
}

function tableView({header, rows}: Table, context: TextContext): TemplateResult {
  const cell = (content: readonly Inline[]): unknown => inlinesView(content, context);
  return html`<div class="table" tabindex="0">
    <table>
      ${header.length ? html`<thead><tr>${header.map((head) => html`<th scope="col" dir="auto">${cell(head)}</th>`)}</tr></thead>` : nothing}
      <tbody>${rows.map((row) => html`<tr>${row.map((data) => html`<td dir="auto">${cell(data)}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`;
}

/** Inline content as templates; see `blocksView`. */
export function inlinesView(nodes: readonly Inline[], context: TextContext): unknown[] {
  return nodes.map((node) => inlineView(node, context));
}

function inlineView(node: Inline, context: TextContext): unknown {
  if (typeof node === 'string') return node;
  switch (node.type) {
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
      return context.cite(node.n) ?? `[${node.n}]`;
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

/**
 * The address of a link that may be followed, or undefined: only http, https and mailto, and only absolute, for a
 * relative one was meant for another page.
 */
export function safeHref(href: string): string | undefined {
  try {
    const url = new URL(href);
    return /^(https?|mailto):$/.test(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}
