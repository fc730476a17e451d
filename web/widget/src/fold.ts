/** An excerpt folded to the words that answer. */

import type {Block, Inline, ListItem, Table} from './schema.ts';
import {inlineWords, linesOf, wordsOf} from './words.ts';

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
        const text = markedLines(block.children);
        return text ? [{...block, children: [text]}] : [];
      }
      case 'quote': {
        const inner = folded(block.blocks);
        return inner.length ? [{...block, blocks: inner}] : [];
      }
      case 'list': {
        const items = block.items.map((item): ListItem => ({...item, blocks: folded(item.blocks)})).filter((item) => item.blocks.length);
        return items.length ? [{...block, items}] : [];
      }
      case 'table': {
        const rows = block.rows.filter((row) => row.some(isMarked));
        return rows.length || block.header.some(isMarked) ? [plain({...block, rows: rows.length ? rows : block.rows})] : [];
      }
      default:
        return [];
    }
  });
}

/** Whether all that a folded excerpt says stands in a text already, whatever the markup of both. */
export function stands(blocks: readonly Block[], text: readonly Block[]): boolean {
  const said = letters(wordsOf(text));
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
    if (block.type === 'table') return block.rows.flat().map(inlineWords);
    if (block.type === 'paragraph') return inlineWords(block.children).split(DOTS);
    return linesOf([block]);
  });
}

const DOTS = ' … ';

function isMarked(nodes: readonly Inline[]): boolean {
  return nodes.some((node) => typeof node === 'object' && (node.type === 'mark' || ('children' in node && isMarked(node.children))));
}

/** The marked part of inline content, no longer marked. */
function markedOf(nodes: readonly Inline[]): Inline[] {
  const kept: Inline[] = [];
  let between = '';
  for (const node of nodes) {
    let part: Inline[] = [];
    if (typeof node === 'object' && node.type === 'mark') part = node.children;
    else if (typeof node === 'object' && 'children' in node && isMarked(node.children)) part = [{...node, children: markedOf(node.children)}];
    if (part.length) {
      if (between && kept.length) kept.push(between);
      kept.push(...part);
      between = '';
    } else {
      const text = inlineWords([node]);
      if (text.trim()) between = DOTS;
      else if (text) between ||= ' ';
    }
  }
  return kept;
}

/** The lines of code in which something is marked. */
function markedLines(children: readonly Inline[]): string {
  const lines = [{text: '', marked: false}];
  for (const node of children) {
    inlineWords([node]).split('\n').forEach((part, at) => {
      if (at) lines.push({text: '', marked: false});
      const line = lines.at(-1)!;
      line.text += part;
      line.marked ||= Boolean(part) && typeof node === 'object';
    });
  }
  return lines.filter(({marked}) => marked).map(({text}) => text).join('\n');
}

/** A table without its marks. */
function plain(table: Table): Table {
  const cell = (nodes: readonly Inline[]): Inline[] =>
    nodes.flatMap((node): Inline[] => {
      if (typeof node === 'string' || !('children' in node)) return [node];
      return node.type === 'mark' ? cell(node.children) : [{...node, children: cell(node.children)}];
    });
  return {...table, header: table.header.map(cell), rows: table.rows.map((row) => row.map(cell))};
}
