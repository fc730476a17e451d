/** What a reader of an answer sees of the book besides code and formulas. */

import type {Answer, Block, Inline} from '../../widget/src/wire.ts';

/** Signs that only authors' tools read: containers, templates, tags of components, fences, rows of a table, links, attributes. */
const MARKUP = /:::|\{\{|\{%|\{\}|^\+\+\+|<\/?(?:summary|details|Tabs?|TabItem)\b|\[!(?:NOTE|TIP|WARNING|CAUTION|IMPORTANT)\]|^!!! |`{3}|~{3}|^\s*\||\|\s*$| \| .* \| |\]\(\S*\)|\{(?:[.#:]\w|\w+=)/gm;

/** The raw markup that an answer shows: in its text, its excerpts, their headings and what is offered next. */
export function rawMarkup(answer: Answer): string[] {
  const {sentences, excerpts, sources, suggestions, meant} = answer;
  const texts = [answer, ...sentences, ...excerpts, ...sources].flatMap(({blocks}) => blocks ?? []);
  const shown = [...wordsOf(texts), ...suggestions, meant, ...excerpts.flatMap(({heading_path}) => heading_path)];
  return shown.flatMap((words) => words.match(MARKUP) ?? []);
}

/** The words of each paragraph, heading and cell; code and formulas may hold any sign. */
function wordsOf(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block): string[] => {
    switch (block.type) {
      case 'paragraph':
      case 'heading':
        return [inline(block.children)];
      case 'quote':
        return wordsOf(block.blocks);
      case 'list':
        return block.items.flatMap((item) => wordsOf(item.blocks));
      case 'table':
        return [block.header, ...block.rows].flat().map(inline);
      default:
        return [];
    }
  });
}

function inline(nodes: readonly Inline[]): string {
  return nodes
    .map((node) => {
      if (typeof node === 'string') return node;
      if ('children' in node) return inline(node.children);
      return node.type === 'image' ? node.alt : ' ';
    })
    .join('');
}
