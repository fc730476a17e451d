/** Markdown without HTML: parsed here into a tree, drawn by `views/markdown.ts`. */

import {parseMarkdown} from './blocks.ts';
import {blockText} from './tree.ts';

export {parseMarkdown} from './blocks.ts';
export {parseExcerpt} from './excerpt.ts';
export {folded, stands} from './fold.ts';
export type {Block, Inline} from './tree.ts';

/** What a reader sees of a Markdown text, without its markup. */
export function plainText(source: string): string {
  return blockText(parseMarkdown(source)).replace(/\s+/g, ' ').trim();
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
