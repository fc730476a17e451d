/** An excerpt folded to the words that answer. */

import {blockText, inlineText, type Block, type Inline, type ListItem} from './tree.ts';

/** Only what is marked: sentences with dots between, items with their numbers, rows below their header, lines of code; nothing marked: none. */
export function folded(blocks: readonly Block[]): Block[] {
  return blocks.flatMap((block): Block[] => {
    switch (block.type) {
      case 'paragraph':
      case 'heading': {
        const children = markedOf(block.children);
        return children.length ? [{...block, children}] : [];
      }
      case 'code': {
        const text = linesOf(block.text, block.marks ?? []);
        return text ? [{type: 'code', text, language: block.language}] : [];
      }
      case 'quote': {
        const inner = folded(block.blocks);
        return inner.length ? [{...block, blocks: inner}] : [];
      }
      case 'list':
        return listsOf(block);
      case 'table': {
        const rows = block.rows.filter((row) => row.some(isMarked));
        if (!rows.length) return block.header.some(isMarked) ? [plain(block)] : [];
        return [plain({...block, rows})];
      }
      default:
        return [];
    }
  });
}

/** Whether all that a folded excerpt says stands in a text already, whatever the markup of both. */
export function stands(blocks: readonly Block[], text: readonly Block[]): boolean {
  const said = letters(blockText(text));
  return piecesOf(blocks).every((piece) => said.includes(letters(piece)));
}

function letters(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}

/** What a reader takes in at once: a sentence, an item, a cell, a block of code. */
function piecesOf(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block): string[] => {
    if (block.type === 'quote') return piecesOf(block.blocks);
    if (block.type === 'list') return block.items.flatMap((item) => piecesOf(item.blocks));
    if (block.type === 'table') return block.rows.flat().map(inlineText);
    if (block.type === 'paragraph') return inlineText(block.children).split(DOTS);
    return [blockText([block])];
  });
}

const DOTS = ' … ';

function isMarked(nodes: readonly Inline[]): boolean {
  return nodes.some((node) => node.type === 'mark' || ('children' in node && isMarked(node.children)));
}

/** The marked part of inline content, no longer marked. */
function markedOf(nodes: readonly Inline[]): Inline[] {
  const kept: Inline[] = [];
  let between = '';
  for (const node of nodes) {
    const part = node.type === 'mark' ? node.children : 'children' in node && isMarked(node.children) ? [{...node, children: markedOf(node.children)}] : [];
    if (part.length) {
      if (between && kept.length) kept.push({type: 'text', text: between});
      kept.push(...part);
      between = '';
    } else {
      const text = inlineText([node]);
      if (text.trim()) between = DOTS;
      else if (text) between ||= ' ';
    }
  }
  return kept;
}

function linesOf(text: string, marks: readonly (readonly [number, number])[]): string {
  let start = 0;
  const kept = text.split('\n').filter((line) => {
    const [from, to] = [start, (start += line.length + 1)];
    return marks.some(([first, last]) => first < to - 1 && from < last);
  });
  return kept.join('\n');
}

/** Each run of marked items is a list of its own, that begins with the number which the book gives its first. */
function listsOf(list: Block & {type: 'list'}): Block[] {
  const runs: {start: number | undefined; items: ListItem[]}[] = [];
  let last = -2;
  list.items.forEach((item, at) => {
    const blocks = folded(item.blocks);
    if (!blocks.length) return;
    if (at !== last + 1) runs.push({start: list.start === undefined ? undefined : list.start + at, items: []});
    runs.at(-1)?.items.push({...item, blocks});
    last = at;
  });
  return runs.map((run) => ({...list, ...run}));
}

/** A table without its marks. */
function plain(table: Block & {type: 'table'}): Block {
  const cell = (nodes: Inline[]): Inline[] => nodes.flatMap((node): Inline[] => (node.type === 'mark' ? cell(node.children) : 'children' in node ? [{...node, children: cell(node.children)}] : [node]));
  return {...table, header: table.header.map(cell), rows: table.rows.map((row) => row.map(cell))};
}
