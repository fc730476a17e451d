/** What a reader of an answer sees of the book besides code and formulas, drawn by the widget's own code. */

import {parseExcerpt, parseMarkdown, type Block, type Inline} from '../../widget/src/markdown/index.ts';
import type {Answer} from '../../widget/src/wire.ts';

/** Signs that only authors' tools read: containers, templates, tags of components, fences, rows of a table, links, attributes. */
const MARKUP = /:::|\{\{|\{%|\{\}|^\+\+\+|<\/?(?:summary|details|Tabs?|TabItem)\b|\[!(?:NOTE|TIP|WARNING|CAUTION|IMPORTANT)\]|^!!! |`{3}|~{3}|^\s*\||\|\s*$| \| .* \| |\]\(\S*\)|\{(?:[.#:]\w|\w+=)/gm;

/** The raw markup that an answer shows: in its text, its excerpts, their headings and what is offered next. */
export function rawMarkup(answer: Answer): string[] {
  const {answer: text, sentences = [], excerpts = [], suggestions = [], meant = ''} = answer;
  const shown = [
    ...[text, ...sentences.map((sentence) => sentence.text), ...suggestions, meant].flatMap((part) => wordsOf(parseMarkdown(part))),
    ...excerpts.flatMap(({text: source, marks}) => wordsOf(parseExcerpt(source, marks))),
    ...excerpts.flatMap(({heading_path}) => heading_path),
  ];
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
      if ('children' in node) return inline(node.children);
      return node.type === 'text' ? node.text : node.type === 'image' ? node.alt : ' ';
    })
    .join('');
}
