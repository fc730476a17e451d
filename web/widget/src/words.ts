/** What a reader sees of a text, without its markup. */

import type {Block, Inline} from './schema.ts';

/** What a text consists of; where a server does not say it, the text as it is. */
export function blocksOf(blocks: readonly Block[] | undefined, text: string): readonly Block[] {
  return blocks ?? (text ? [{type: 'paragraph', children: [text]}] : []);
}

/** The words of a text in one line; markers of sources are not part of them. */
export function wordsOf(blocks: readonly Block[]): string {
  return linesOf(blocks).join(' ').replace(/\s+/g, ' ').trim();
}

/** The same, a line for each paragraph, item, row and piece of code. */
export function linesOf(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block): string[] => {
    switch (block.type) {
      case 'quote':
        return linesOf(block.blocks);
      case 'list':
        return block.items.flatMap((item) => linesOf(item.blocks));
      case 'table':
        return [block.header, ...block.rows].map((row) => row.map(inlineWords).join(' '));
      case 'rule':
        return [];
      default:
        return [inlineWords(block.children)];
    }
  });
}

/** The words of a line. */
export function inlineWords(nodes: readonly Inline[]): string {
  return nodes.map(wordOf).join('');
}

function wordOf(node: Inline): string {
  if (typeof node === 'string') return node;
  switch (node.type) {
    case 'code':
      return node.text;
    case 'math':
      return node.tex;
    case 'image':
      return node.alt;
    case 'break':
      return ' ';
    case 'cite':
      return '';
    default:
      return inlineWords(node.children);
  }
}
