/** Markdown without HTML: parsed here into a tree, drawn by `views/markdown.ts`. */

import {parseMarkdown} from './blocks.ts';
import {blockText, inlineText, numbersIn, type Block} from './tree.ts';

export {parseMarkdown} from './blocks.ts';
export {parseExcerpt} from './excerpt.ts';
export type {Block, Inline} from './tree.ts';

/** What a reader sees of a Markdown text, without its markup. */
export function plainText(source: string): string {
  return blockText(parseMarkdown(source)).replace(/\s+/g, ' ').trim();
}

/** The numbers of a text's citation markers; `[1]` in code is none. */
export function citedNumbers(source: string): number[] {
  return numbersIn(parseMarkdown(source));
}

/** What stands under a heading, and what before and behind it. */
export function splitAt(blocks: readonly Block[], heading: string): {before: Block[]; under: Block[]; behind: Block[]} {
  const at = blocks.findIndex((block) => headingOf(block) === heading);
  if (at < 0) return {before: [...blocks], under: [], behind: []};
  const next = blocks.findIndex((block, index) => index > at && headingOf(block));
  const end = next < 0 ? blocks.length : next;
  return {before: blocks.slice(0, at), under: blocks.slice(at + 1, end), behind: blocks.slice(end)};
}

/** A heading's words; a line that begins in bold and has no more, or ends in a colon, is one too. */
function headingOf(block: Block): string {
  if (block.type === 'heading') return inlineText(block.children).trim();
  if (block.type !== 'paragraph') return '';
  const [first, ...rest] = block.children;
  const bold = first?.type === 'strong' && /^$|:$/.test(inlineText(rest).trim());
  return bold ? inlineText(first.children).replace(/:$/, '').trim() : '';
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
