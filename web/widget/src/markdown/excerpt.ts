/** A piece of a source file as a page shows it: without the markup of components, the words that answer marked. */

import {LONGEST, parseMarkdown} from './blocks.ts';
import {OFF, ON, type Block, type Inline} from './tree.ts';

type Range = readonly number[];

const SIGNS = new RegExp(`[${ON}${OFF}]`, 'g');
const NO_SIGNS = new RegExp(`[^${ON}${OFF}]`, 'g');
const FENCE = /^\s*(?:`{3,}|~{3,})/;
/** Lines that are structure alone: rules, underlines, the second row of a table. */
const STRUCTURE = /^[\s\-=|:+*_>]*$/;
const ADMONITION = /^\s*:{3,}/;
/** What is left of the first line of a box: its title, and the bracket that ends it. */
const TITLE_END = /^([^[\]]+)\]\s*$/;
/** What a line begins with before its words: quotes, list signs, headings, boxes of tasks. */
const OPENING = /^(?:\s|>|[-*+]\s|\d{1,9}[.)]\s|#{1,6}\s|\[[ xX]\]\s)*/;
/** A line that a page does not show: a component's tag, a comment, an import. */
const UNSHOWN = /^\s*(?:<\/?[A-Za-z][\w.:-]*(?:\s[^<>]*)?>|\{\/\*.*\*\/\}|<!--.*-->|(?:import|export)\s.*\bfrom\s.*)\s*$/;
const TAG = /<\/?(?:a|abbr|b|br|code|em|i|kbd|mark|s|small|span|strong|sub|sup|u)(?:\s[^<>]*)?\/?>/gi;

/**
 * The blocks of an excerpt.
 *
 * @param marks Offsets in `text` in characters, from and to; a mark over all of it says nothing and is not drawn.
 */
export function parseExcerpt(text: string, marks: readonly Range[]): Block[] {
  const characters = Array.from(text.slice(0, LONGEST), (character) => (character === ON || character === OFF ? '\ufffd' : character));
  const marked = marks.filter(([from = 0, to = 0]) => from > 0 || to < characters.length);
  const lines: string[] = [];
  let [start, fenced] = [0, false];
  for (const line of splitLines(characters)) {
    const words = line.join('');
    const fence = FENCE.test(words);
    const title = start ? undefined : TITLE_END.exec(words)?.[1];
    if (title) lines.push(`**${title.trim()}**`, '');
    else if (!fenced && UNSHOWN.test(words)) lines.push('');
    else if (fence || (!fenced && (STRUCTURE.test(words) || ADMONITION.test(words)))) lines.push(words);
    else lines.push(withSigns(line, start, marked, fenced));
    if (fence) fenced = !fenced;
    start += line.length + 1;
  }
  return marksOfBlocks(parseMarkdown(lines.join('\n')));
}

function splitLines(characters: readonly string[]): string[][] {
  const lines: string[][] = [[]];
  for (const character of characters) {
    if (character === '\n') lines.push([]);
    else lines.at(-1)?.push(character);
  }
  return lines;
}

/** A line with a sign where a mark begins and where it ends; marks end at the cells of a table, too. */
function withSigns(line: readonly string[], start: number, marks: readonly Range[], fenced: boolean): string {
  const first = fenced ? line.findIndex((character) => character.trim()) : Array.from(OPENING.exec(line.join(''))?.[0] ?? '').length;
  const isMarked = (at: number): boolean => marks.some(([from = 0, to = 0]) => from <= start + at && start + at < to);
  const parts: string[] = [];
  let on = false;
  line.forEach((character, at) => {
    const cell = !fenced && character === '|';
    // A blank at the end of a mark, as beside the bars of a table, is not worth marking.
    const next = at >= Math.max(0, first) && !cell && (on || Boolean(character.trim())) && isMarked(at);
    if (next && !on) parts.push(ON);
    else if (on && !next) close(parts);
    on = next;
    parts.push(character === '\r' ? '' : character);
  });
  if (on) close(parts);
  const text = parts.join('');
  if (fenced) return text;
  // What stands in backticks is no tag.
  return text.split(/(`+[^`]*`+)/).map((part, index) => (index % 2 ? part : part.replace(TAG, (tag) => tag.replace(NO_SIGNS, '')))).join('');
}

/** End a mark behind its last word. */
function close(parts: string[]): void {
  let end = parts.length;
  while (!parts[end - 1]?.trim()) end -= 1;
  parts.splice(end, 0, OFF);
}

function marksOfBlocks(blocks: readonly Block[]): Block[] {
  return blocks.map((block): Block => {
    switch (block.type) {
      case 'paragraph':
      case 'heading':
        return {...block, children: marksOf(block.children)};
      case 'code':
        return {...block, ...codeMarks(block.text)};
      case 'quote':
        return {...block, blocks: marksOfBlocks(block.blocks)};
      case 'list':
        return {...block, items: block.items.map((item) => ({...item, blocks: marksOfBlocks(item.blocks)}))};
      case 'table':
        return {...block, header: block.header.map(marksOf), rows: block.rows.map((row) => row.map(marksOf))};
      default:
        return block;
    }
  });
}

/** Code without the signs, and where they stood. */
function codeMarks(text: string): {text: string; marks: [number, number][]} {
  const marks: [number, number][] = [];
  let plain = '';
  for (const part of text.split(new RegExp(`(${ON}[^${OFF}]*${OFF}?)`))) {
    const words = part.replace(SIGNS, '');
    if (part.startsWith(ON)) marks.push([plain.length, plain.length + words.length]);
    plain += words;
  }
  return {text: plain, marks};
}

/** Inline content with its signs turned into marks; what cannot be cut, such as a formula, is marked as a whole. */
function marksOf(nodes: readonly Inline[]): Inline[] {
  let on = false;
  const within = (nodes: readonly Inline[]): Inline[] => nodes.flatMap(turn);
  function turn(node: Inline): Inline[] {
    if (node.type === 'text') {
      return node.text.split(new RegExp(`([${ON}${OFF}])`)).flatMap((part): Inline[] => {
        if (part === ON || part === OFF) on = part === ON;
        else if (part) return [on ? {type: 'mark', children: [{type: 'text', text: part}]} : {type: 'text', text: part}];
        return [];
      });
    }
    if (node.type === 'link') return [{...node, href: node.href.replace(SIGNS, ''), children: within(node.children)}];
    if ('children' in node) return [{...node, children: within(node.children)}];
    const said = node.type === 'code' ? node.text : node.type === 'math' ? node.tex : node.type === 'image' ? node.alt : '';
    const signs = said.replace(NO_SIGNS, '');
    const marked = on || signs.includes(ON);
    if (signs) on = signs.endsWith(ON);
    const plain = withoutSigns(node);
    return [marked && node.type !== 'break' ? {type: 'mark', children: [plain]} : plain];
  }
  return within(nodes);
}

function withoutSigns(node: Inline): Inline {
  switch (node.type) {
    case 'code':
      return {...node, text: node.text.replace(SIGNS, '')};
    case 'math':
      return {...node, tex: node.tex.replace(SIGNS, '')};
    case 'image':
      return {...node, alt: node.alt.replace(SIGNS, '')};
    default:
      return node;
  }
}
