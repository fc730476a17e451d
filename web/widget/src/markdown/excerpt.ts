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
/** Code that stands in another file, which is not here. */
const INCLUDED = /^\s*\{\{#.*\}\}\s*$/;
/** What a line begins with before its words: quotes, list signs, headings, boxes of tasks. */
const OPENING = /^(?:\s|>|[-*+]\s|\d{1,9}[.)]\s|#{1,6}\s|\[[ xX]\]\s)*/;
/** What a page shows as it is, and what it does not show: code; then comments, imports, conditions, tags. A name in angle brackets, `<file>`, is no tag. */
const UNSHOWN = new RegExp(
  [
    /(`+[^`]*`+)/,
    // `[words]{#id}` and `[words][label]`: the words alone.
    /(?<![\w\]])\[([^[\]]+)\](?:\{[#.][^{}\n]*\}|\[[\w .:-]*\])/,
    /<!--[^]*?(?:-->|(?![^]))|\{\/\*[^]*?(?:\*\/\}|(?![^]))/,
    /^[ \t]*(?:(?:import|export)\s.*\bfrom\s.*|\{[#:/][^{}\n]*\}[ \t]*$)/,
    /(?:(?:(?<![\w:])<|<\/)[A-Z][\w.]*|<\/?(?:abbr|audio|b|br|center|code|del|details|div|em|fig\w+|font|h[1-6r]|i|iframe|img|kbd|li|mark|[ou]l|p|picture|s|section|small|source|span|strong|su[bpm]\w*|svg|t[abdhr]\w*|u|video|a))(?=[\s/>])(?:[^<>"]|"[^"]{0,400}")*>/,
  ]
    .map(({source}) => source)
    .join('|'),
  'gm',
);

/**
 * The blocks of an excerpt.
 *
 * @param marks Offsets in `text` in characters, from and to; a mark over all of it says nothing and is not drawn.
 */
export function parseExcerpt(text: string, marks: readonly Range[]): Block[] {
  const characters = Array.from(text.slice(0, LONGEST), (character) => (character === ON || character === OFF ? '\ufffd' : character));
  const marked = marks.filter(([from = 0, to = 0]) => from > 0 || to < characters.length);
  const lines = splitLines(characters);
  const isFence = (line: readonly string[]): boolean => FENCE.test(line.join(''));
  // Inside a list's item all lines but the first stand further in: as far as its code does, or all of them.
  const indents = lines.slice(1).map((line) => line.findIndex((character) => character.trim())).filter((at) => at >= 0);
  const fence = lines.find(isFence)?.findIndex((character) => character.trim());
  const indent = fence ?? Math.min(...indents);
  const whole: string[] = [];
  let words: string[] = [];
  const say = (): void => {
    if (words.length) whole.push(shownOf(words.join('\n')));
    words = [];
  };
  let [start, fenced] = [0, false];
  for (const line of lines) {
    const blank = line.findIndex((character) => character.trim());
    const inside = indent > 3 ? line.slice(0, Math.min(indent, blank < 0 ? line.length : blank)).length : 0;
    const text = line.slice(inside);
    const plain = text.join('');
    const isEdge = isFence(line);
    const title = start ? undefined : TITLE_END.exec(plain)?.[1];
    if (isEdge || fenced) {
      say();
      whole.push(isEdge ? plain : withSigns(text, start + inside, marked, true));
    } else if (title) words.push(`**${title.trim()}**`, '');
    else words.push(STRUCTURE.test(plain) || ADMONITION.test(plain) ? plain : withSigns(text, start + inside, marked, false));
    if (isEdge) fenced = !fenced;
    start += line.length + 1;
  }
  say();
  return marksOfBlocks(parseMarkdown(whole.join('\n'))).filter((block) => block.type !== 'code' || !INCLUDED.test(block.text));
}

/** Words as a page shows them, but for raised and lowered signs, which stand apart: `10^9`, `1011_2`. */
function shownOf(words: string): string {
  return words
    .replace(/\[\^[^\s\]]+\]|(?<=\d)(<sub>)/g, (_, sub) => (sub ? '_' : ''))
    .replace(/<sup>([^<`]*)<\/sup>/g, (_, x: string) => (/^(st|nd|rd|th)$/.test(x) ? x : /\w\W+\w/.test(x) ? `^(${x})` : '^' + x))
    .replace(UNSHOWN, (whole: string, code?: string, labelled?: string) => code ?? labelled ?? whole.replace(NO_SIGNS, ''));
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
  return parts.join('');
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
