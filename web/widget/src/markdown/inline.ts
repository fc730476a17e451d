/** Inline Markdown, in time that grows with the length of the text: CommonMark's delimiter runs, without its HTML. */

import {inlineText, OFF, ON, type Inline} from './tree.ts';

/** A run of `*`, `_` or `~` that may still turn into emphasis. */
interface Run {
  node: Inline;
  char: string;
  count: number;
  opens: boolean;
  closes: boolean;
}

/** An opening bracket; text until its address is there. */
interface Bracket {
  node: Inline;
  image: boolean;
  /** How many runs came before it. */
  runs: number;
}

const MOST_OPEN = 64;

const SPECIAL = /[\\`*_~[\]!$<&\n]|https?:\/\//g;
const ESCAPED = /^\\([!-/:-@[-`{-~])/;
const CITE = /^\[(\d{1,3})\](?![([])/;
// As Pandoc has it: no blank inside the dollars, no digit behind, so that prices stay prices.
const MATH = /^\$(?![\s$])((?:\\[^\n]|[^\\$\n])+?)(?<!\s)\$(?!\d)/;
const DISPLAY = /^\$\$((?:\\[^]|[^\\$])+?)\$\$/;
/** As MathJax has it in Markdown, where one backslash escapes the other. */
const TEX = /^\\\\([([])([^]{1,999}?)\\\\[)\]]/;
const ADDRESS = /^<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/;
const BARE_URL = /^https?:\/\/[^\s<>"'`\]]{1,2000}/;
const TARGET = /^\(\s*(?:<([^<>\n]{0,2000})>|([^\s()<>]{0,2000}(?:\([^\s()<>]{0,500}\)[^\s()<>]{0,500}){0,3}))(?:\s+(?:"[^"]{0,500}"|'[^']{0,500}'))?\s*\)/;
/** What Pandoc and kramdown say of an image or a link behind it; an excerpt may end within. */
const ATTRIBUTES = /^\{(?=[.#:]|[\w-]+=)[^{}\n]{0,2000}(?:\}|$)/;
const ENTITY = /^&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|(\w{2,6}));/;
const ENTITIES: Record<string, string> = {amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0', emsp: ' '};

/** Inline content of a paragraph, heading or table cell. */
export function parseInline(source: string): Inline[] {
  const nodes: Inline[] = [];
  const runs: Run[] = [];
  const brackets: Bracket[] = [];
  /** Lengths of backtick runs that are known not to come again. */
  const unclosed = new Set<number>();
  let at = 0;

  const push = (text: string): Inline => {
    const node: Inline = {type: 'text', text};
    nodes.push(node);
    return node;
  };
  const take = (pattern: RegExp, make: (match: RegExpExecArray) => Inline | undefined): boolean => {
    const match = pattern.exec(source.slice(at, at + 8192));
    const node = match && make(match);
    if (!node) return false;
    nodes.push(node);
    at += match[0].length;
    return true;
  };

  function code(): void {
    const fence = /^`+/.exec(source.slice(at))?.[0] ?? '`';
    const after = at + fence.length;
    const closer = new RegExp(`(?<!\`)\`{${fence.length}}(?!\`)`, 'g');
    closer.lastIndex = after;
    const end = unclosed.has(fence.length) ? null : closer.exec(source);
    at = after;
    if (!end) {
      unclosed.add(fence.length);
      push(fence);
      return;
    }
    const text = source.slice(after, end.index).replace(/\n/g, ' ');
    nodes.push({type: 'code', text: /^ .*\S.* $/.test(text) ? text.slice(1, -1) : text});
    at = end.index + fence.length;
  }

  /** The character at a place, or the next one where a mark begins or ends there. */
  function neighbour(place: number, step: number): string {
    while (source[place] === ON || source[place] === OFF) place += step;
    return source[place] ?? ' ';
  }

  function run(char: string): void {
    let count = 1;
    while (source[at + count] === char) count += 1;
    const [before, behind] = [neighbour(at - 1, -1), neighbour(at + count, 1)];
    const left = flanks(before, behind);
    const right = flanks(behind, before);
    const inside = char === '_' && left && right;
    runs.push({
      node: push(char.repeat(count)),
      char,
      count,
      opens: left && (!inside || isPunctuation(before)),
      closes: right && (!inside || isPunctuation(behind)),
    });
    at += count;
  }

  function closeBracket(): void {
    at += 1;
    const bracket = brackets.pop();
    const target = bracket && TARGET.exec(source.slice(at, at + 4096));
    if (!target) {
      push(']');
      return;
    }
    const children = emphasise(nodes.splice(nodes.lastIndexOf(bracket.node)).slice(1), runs.splice(bracket.runs));
    at += target[0].length;
    const href = (target[1] ?? target[2] ?? '').replace(/\\([!-/:-@[-`{-~])/g, '$1');
    const attributes = ATTRIBUTES.exec(source.slice(at, at + 2048))?.[0] ?? '';
    at += attributes.length;
    const alt = /\balt=(["'])(.*?)(?:\1|$)/.exec(attributes)?.[2] ?? inlineText(children);
    nodes.push(bracket.image ? {type: 'image', alt} : {type: 'link', href, children});
  }

  while (at < source.length) {
    SPECIAL.lastIndex = at;
    const next = SPECIAL.exec(source)?.index ?? source.length;
    if (next > at) push(source.slice(at, next));
    at = next;
    const char = source[at];
    if (char === undefined) break;
    if (char === '\\' && take(TEX, ([, open, tex = '']) => ({type: 'math', tex: tex.trim(), display: open === '['}))) continue;
    if (char === '\\' && take(ESCAPED, ([, escaped = '']) => ({type: 'text', text: escaped}))) continue;
    if (char === '\\' && take(/^\\\n/, () => ({type: 'break'}))) continue;
    if (char === '\n') {
      const last = nodes[nodes.length - 1];
      const hard = last?.type === 'text' && / {2,}$/.test(last.text);
      nodes.push(hard ? {type: 'break'} : {type: 'text', text: '\n'});
      at += 1;
    } else if (char === '`') code();
    else if (char === '*' || char === '_' || char === '~') run(char);
    else if (char === '[' && take(CITE, ([raw, n]) => ({type: 'cite', n: Number(n), raw}))) continue;
    else if (char === '[' || (char === '!' && source[at + 1] === '[')) {
      const image = char === '!';
      brackets.push({node: push(image ? '![' : '['), image, runs: runs.length});
      at += image ? 2 : 1;
    } else if (char === ']') closeBracket();
    else if (char === '$' && take(DISPLAY, ([, tex = '']) => ({type: 'math', tex: tex.trim(), display: true}))) continue;
    else if (char === '$' && take(MATH, ([, tex = '']) => ({type: 'math', tex, display: false}))) continue;
    else if (char === '<' && take(ADDRESS, ([, href = '']) => link(href))) continue;
    else if (char === 'h') {
      const url = (BARE_URL.exec(source.slice(at, at + 2048))?.[0] ?? char).replace(/[.,:;!?)*_~]+$/, '');
      nodes.push(link(url));
      at += url.length;
    } else if (char === '&' && take(ENTITY, (match) => ({type: 'text', text: decoded(match)}))) continue;
    else {
      push(char);
      at += 1;
    }
  }
  return emphasise(nodes, runs);
}

/** The nodes with their delimiter runs turned into emphasis, as CommonMark pairs them; what has no pair is text. */
function emphasise(nodes: readonly Inline[], runs: readonly Run[]): Inline[] {
  const runOf = new Map(runs.map((run) => [run.node, run]));
  const outer: Inline[] = [];
  /** Runs that are open, and what stands behind each of them so far. */
  const open: {run: Run; children: Inline[]}[] = [];
  const inner = (): Inline[] => open[open.length - 1]?.children ?? outer;
  /** The open runs behind `depth` have found no pair. */
  const collapse = (depth: number): void => {
    while (open.length > depth) {
      const {run, children} = open.pop() ?? {children: []};
      const parent = inner();
      if (run) parent.push(rest(run));
      for (const child of children) parent.push(child);
    }
  };
  for (const node of nodes) {
    const run = runOf.get(node);
    if (!run) {
      inner().push(node);
      continue;
    }
    while (run.closes && run.count > 0) {
      const index = open.findLastIndex((other) => pairs(other.run, run));
      if (index < 0) break;
      collapse(index + 1);
      const {run: opener, children} = open.pop() ?? {run, children: []};
      const used = run.char === '~' ? run.count : Math.min(opener.count, run.count, 2);
      opener.count -= used;
      run.count -= used;
      const type = run.char === '~' ? 'del' : used === 2 ? 'strong' : 'em';
      if (opener.count > 0) open.push({run: opener, children: [{type, children}]});
      else inner().push({type, children});
    }
    if (run.count > 0 && run.opens) open.push({run, children: []});
    else if (run.count > 0) inner().push(rest(run));
    // A text with thousands of unpaired runs must not cost their square.
    if (open.length > MOST_OPEN) collapse(0);
  }
  collapse(0);
  return outer;
}

function rest(run: Run): Inline {
  return {type: 'text', text: run.char.repeat(run.count)};
}

function pairs(open: Run, close: Run): boolean {
  if (open.char !== close.char) return false;
  if (open.char === '~') return open.count === close.count && open.count <= 2;
  const both = open.closes || close.opens;
  return !both || (open.count + close.count) % 3 !== 0 || (open.count % 3 === 0 && close.count % 3 === 0);
}

/** Whether a run with these neighbours can open on this side. */
function flanks(outer: string, inner: string): boolean {
  if (/\s/.test(inner)) return false;
  return !isPunctuation(inner) || /\s/.test(outer) || isPunctuation(outer);
}

function isPunctuation(char: string): boolean {
  return /[\p{P}\p{S}]/u.test(char);
}

function link(href: string): Inline {
  return {type: 'link', href, children: [{type: 'text', text: href}]};
}

function decoded([whole, decimal, hex, name]: RegExpExecArray): string {
  if (name) return ENTITIES[name] ?? whole;
  const code = decimal ? Number(decimal) : parseInt(hex ?? '', 16);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
}
