/** A Markdown text as a tree: what views draw, and what a reader sees of it without markup. */

/** Signs within a text where a mark begins and ends; no book has them. */
export const [ON, OFF] = ['\ue000', '\ue001'];

export type Inline =
  | {type: 'text'; text: string}
  | {type: 'code'; text: string}
  | {type: 'strong' | 'em' | 'del' | 'mark'; children: Inline[]}
  | {type: 'link'; href: string; children: Inline[]}
  | {type: 'image'; alt: string}
  | {type: 'break'}
  /** `[1]` in an answer. */
  | {type: 'cite'; n: number; raw: string}
  /** `$...$` or `$$...$$`. */
  | {type: 'math'; tex: string; display: boolean};

export interface ListItem {
  /** Of a task list: whether it is done. */
  checked: boolean | undefined;
  blocks: Block[];
}

export type Block =
  | {type: 'paragraph'; children: Inline[]}
  | {type: 'heading'; children: Inline[]}
  /** `marks`: from and to in `text`. */
  | {type: 'code'; text: string; language: string; marks?: [number, number][]}
  | {type: 'quote'; blocks: Block[]}
  | {type: 'list'; start: number | undefined; tight: boolean; items: ListItem[]}
  | {type: 'table'; header: Inline[][]; rows: Inline[][][]}
  | {type: 'rule'};

/** What a reader sees of inline content; citation markers are not part of it. */
export function inlineText(nodes: readonly Inline[]): string {
  return nodes.map(textOfInline).join('');
}

/** What a reader sees of a text, without its markup. */
export function blockText(blocks: readonly Block[]): string {
  return blocks.map(textOfBlock).join(' ');
}

function textOfInline(node: Inline): string {
  switch (node.type) {
    case 'text':
    case 'code':
      return node.text;
    case 'math':
      return node.tex;
    case 'break':
      return ' ';
    case 'cite':
      return '';
    case 'image':
      return node.alt;
    default:
      return inlineText(node.children);
  }
}

function textOfBlock(block: Block): string {
  switch (block.type) {
    case 'code':
      return block.text;
    case 'quote':
      return blockText(block.blocks);
    case 'list':
      return block.items.map((item) => blockText(item.blocks)).join(' ');
    case 'table':
      return [block.header, ...block.rows].flat().map(inlineText).join(' ');
    case 'rule':
      return '';
    default:
      return inlineText(block.children);
  }
}
