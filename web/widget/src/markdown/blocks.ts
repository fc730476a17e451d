/** Block structure of Markdown, line by line: what answers and quotations are made of. */

import {parseInline} from './inline.ts';
import type {Block, Inline, ListItem} from './tree.ts';

/** Answers are short; whatever is longer is a mistake and not worth the browser's time. */
export const LONGEST = 40_000;
/** Quotes in lists in quotes, deeper than this, stay text. */
const DEEPEST = 12;

const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*([^`]*)$/;
const HEADING = /^ {0,3}#{1,6}(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
const HEADING_ID = /\s*\{#[^{}]*\}$/;
const UNDERLINE = /^ {0,3}(?:=+|-+)[ \t]*$/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|(\d{1,9})[.)])(?:[ \t]+(?=\S)|[ \t]*$)/;
const DELIMITERS = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
/** A row between bars; where no header comes before it, the text begins within the table. */
const ROW = /^ {0,3}\|.*\|[ \t]*$/;
/** A row whose bars stand between its cells alone, which several together make a table. */
const BARE_ROW = /\s\|(?:\s|$)/;
/** How GitHub, Obsidian and others begin a box: its kind, and perhaps a title of its own. */
const ALERT = /^\[!(\w)(\w*)\][-+]?[ \t]*(.*)$/;
const ADMONITION = /^ {0,3}:{3,}[ \t]*\{?[a-z]/i;
const ADMONITION_END = /^ {0,3}:{3,}[ \t]*$/;

/** The blocks of a Markdown text; one that is cut short, as a stream is, comes out as far as it goes. */
export function parseMarkdown(source: string): Block[] {
  const text = source.slice(0, LONGEST).replace(/\r\n?/g, '\n').replace(/\t/g, '    ');
  return blocksOf(text.split('\n'), 0);
}

function blocksOf(lines: readonly string[], depth: number): Block[] {
  const blocks: Block[] = [];
  let at = 0;
  const take = (goesOn: (line: string) => boolean): string[] => {
    const start = at;
    while (at < lines.length && goesOn(lines[at] ?? '')) at += 1;
    return lines.slice(start, at);
  };
  while (at < lines.length) {
    const line = lines[at] ?? '';
    const fence = FENCE.exec(line);
    if (!line.trim()) at += 1;
    else if (depth > DEEPEST) blocks.push(paragraph(take(() => true)));
    else if (fence) {
      const [indent, mark = '```', info = ''] = [line.search(/\S/), fence[1], fence[2]];
      const end = new RegExp(`^ {0,3}${mark[0]}{${mark.length},}[ \\t]*$`);
      at += 1;
      const text = take((inside) => !end.test(inside)).map((inside) => inside.replace(new RegExp(`^ {0,${indent}}`), ''));
      at += 1;
      blocks.push({type: 'code', text: text.join('\n'), language: /^[\w+#.-]{1,20}/.exec(info)?.[0] ?? ''});
    } else if (/^ {4}/.test(line)) {
      const text = take((inside) => /^ {4}|^\s*$/.test(inside)).map((inside) => inside.slice(4));
      blocks.push({type: 'code', text: text.join('\n').trimEnd(), language: ''});
    } else if (HEADING.test(line)) {
      at += 1;
      blocks.push({type: 'heading', children: parseInline((HEADING.exec(line)?.[1] ?? '').replace(HEADING_ID, ''))});
    } else if (RULE.test(line)) {
      at += 1;
      blocks.push({type: 'rule'});
    } else if (QUOTE.test(line)) {
      let lazy = false;
      const inner = take((inside) => {
        if (QUOTE.test(inside)) lazy = Boolean(inside.replace(QUOTE, '').trim());
        else if (!lazy || !inside.trim() || interrupts(inside)) return false;
        return true;
      });
      const within = inner.map((inside) => inside.replace(QUOTE, ''));
      const [, initial, name = '', title] = ALERT.exec(within[0] ?? '') ?? [];
      if (initial) within.splice(0, 1, `**${title || initial.toUpperCase() + name.toLowerCase()}**`, '');
      blocks.push({type: 'quote', blocks: blocksOf(within, depth + 1)});
    } else if (ITEM.test(line)) {
      const [list, next] = listAt(lines, at, depth);
      blocks.push(list);
      at = next;
    } else if (isTable(line, lines[at + 1])) {
      at += 2;
      const rows = take((row) => row.includes('|') && Boolean(row.trim()) && !interrupts(row));
      const header = cells(line);
      blocks.push({type: 'table', header, rows: rows.map((row) => sized(cells(row), header.length))});
    } else if (ROW.test(line)) {
      const rows = take((row) => ROW.test(row)).filter((row) => !DELIMITERS.test(row)).map(cells);
      blocks.push({type: 'table', header: [], rows});
    } else if (ADMONITION_END.test(line)) {
      at += 1; // of a box that began before this text
    } else if (ADMONITION.test(line)) {
      at += 1;
      const inner = take((inside) => !ADMONITION_END.test(inside));
      at += 1;
      const title = /\[(.*)\]/.exec(line)?.[1];
      blocks.push({type: 'quote', blocks: blocksOf(title ? [`**${title}**`, '', ...inner] : inner, depth + 1)});
    } else {
      const start = at;
      at += 1;
      const goesOn = (inside: string): boolean => !interrupts(inside) && !UNDERLINE.test(inside) && !ROW.test(inside) && !isTable(inside, lines[at + 1]);
      const text = [line, ...take((inside) => Boolean(inside.trim()) && goesOn(inside))];
      if (text.every((row) => BARE_ROW.test(row)) && (text[1] || /\|\s*$/.test(line))) {
        blocks.push({type: 'table', header: [], rows: text.map(cells)});
        continue;
      }
      const underlined = UNDERLINE.test(lines[at] ?? '') && at > start;
      if (underlined) at += 1;
      blocks.push({...paragraph(text), type: underlined ? 'heading' : 'paragraph'});
    }
  }
  return blocks;
}

/** Whether a line ends the paragraph before it. */
function interrupts(line: string): boolean {
  const item = ITEM.exec(line);
  // A year at the start of a line is not a list: only 1 begins one there, and no empty item does.
  const beginsList = item !== null && item[0].length < line.length && (item[3] === undefined || item[3] === '1');
  return beginsList || FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || ADMONITION_END.test(line) || ADMONITION.test(line);
}

function paragraph(lines: readonly string[]): {type: 'paragraph'; children: Inline[]} {
  const text = lines.map((line) => line.trimStart()).join('\n').trimEnd();
  return {type: 'paragraph', children: parseInline(text)};
}

/** The list that begins at a line, and the line behind it. */
function listAt(lines: readonly string[], from: number, depth: number): [Block, number] {
  const first = ITEM.exec(lines[from] ?? '');
  const kind = (marker = ''): string => marker.at(-1) ?? '';
  const items: ListItem[] = [];
  let [at, tight] = [from, true];
  while (at < lines.length) {
    const match = ITEM.exec(lines[at] ?? '');
    if (!match || kind(match[2]) !== kind(first?.[2]) || RULE.test(lines[at] ?? '')) break;
    const width = match[0].length === (lines[at] ?? '').length ? (match[0].trimEnd().length + 1) : match[0].length;
    const inner = [(lines[at] ?? '').slice(match[0].length)];
    at += 1;
    let [blank, nested] = [false, 0];
    for (; at < lines.length; at += 1) {
      const line = lines[at] ?? '';
      const indent = line.search(/\S/);
      if (indent < 0) nested += 1;
      else if (indent >= width || (nested === 0 && !interrupts(line) && !ITEM.test(line))) {
        // A blank line inside an item sets its paragraphs apart.
        if (nested) blank = true;
        inner.push(...Array<string>(nested).fill(''), indent >= width ? line.slice(width) : line);
        nested = 0;
      } else break;
    }
    const follows = ITEM.exec(lines[at] ?? '');
    if (blank || (nested && follows && kind(follows[2]) === kind(first?.[2]))) tight = false;
    const task = /^\[([ xX])\] (?=\S)/.exec(inner[0] ?? '');
    if (task) inner[0] = (inner[0] ?? '').slice(task[0].length);
    items.push({checked: task ? task[1] !== ' ' : undefined, blocks: blocksOf(inner, depth + 1)});
  }
  const start = first?.[3] === undefined ? undefined : Number(first[3]);
  return [{type: 'list', start, tight, items}, at];
}

function isTable(header: string, delimiters: string | undefined): boolean {
  if (!header.includes('|') || !delimiters || !DELIMITERS.test(delimiters)) return false;
  return split(header).length === split(delimiters).length;
}

function cells(row: string): Inline[][] {
  return split(row).map(parseInline);
}

function split(row: string): string[] {
  const bare = row.trim().replace(/^\|/, '').replace(/(?<!\\)\|$/, '');
  return bare.split(/(?<!\\)\|/).map((cell) => cell.replace(/\\\|/g, '|').trim());
}

function sized(row: Inline[][], count: number): Inline[][] {
  return Array.from({length: count}, (_, index) => row[index] ?? []);
}
