/** Inline Markdown, in time that grows with the length of the text: CommonMark's delimiter runs, without its HTML. */

import type {Inline} from './tree.ts';

/** A run of `*`, `_` or `~` that may still turn into emphasis, or an opening bracket; both are text until then. */
interface Open {
  node: Inline & {type: 'text'};
  char: string;
  count: number;
  opens: boolean;
  closes: boolean;
  /** Of a bracket: whether it began with `!`. */
  image: boolean;
}

const SPECIAL = /[\\`*_~[\]!$<&\n]|https?:\/\//g;
const ESCAPED = /^\\([!-/:-@[-`{-~])/;
const CITE = /^\[(\d{1,3})\](?![([])/;
// As Pandoc has it: no blank inside the dollars, no digit behind, so that prices stay prices.
const MATH = /^\$(?![\s$])((?:\\[^\n]|[^\\$\n])+?)(?<!\s)\$(?!\d)/;
const DISPLAY = /^\$\$((?:\\[^]|[^\\$])+?)\$\$/;
const ADDRESS = /^<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/;
const BARE_URL = /^https?:\/\/[^\s<>"'`\]]{1,2000}/;
const TARGET = /^\(\s*(?:<([^<>\n]{0,2000})>|([^\s()<>]{0,2000}(?:\([^\s()<>]{0,500}\)[^\s()<>]{0,500}){0,3}))(?:\s+(?:"[^"]{0,500}"|'[^']{0,500}'))?\s*\)/;
const ENTITY = /^&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|(\w{2,6}));/;
const ENTITIES: Record<string, string> = {amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0'};

/** Inline content of a paragraph, heading or table cell. */
export function parseInline(source: string): Inline[] {
  const nodes: Inline[] = [];
  const opened: Open[] = [];
  /** Lengths of backtick runs that are known not to come again. */
  const unclosed = new Set<number>();
  let at = 0;

  const push = (text: string): Inline & {type: 'text'} => {
    const node = {type: 'text' as const, text};
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

  function run(char: string): void {
    let count = 1;
    while (source[at + count] === char) count += 1;
    const [before, behind] = [source[at - 1] ?? ' ', source[at + count] ?? ' '];
    const left = flanks(before, behind);
    const right = flanks(behind, before);
    const inside = char === '_' && left && right;
    opened.push({
      node: push(char.repeat(count)),
      char,
      count,
      opens: left && (!inside || isPunctuation(before)),
      closes: right && (!inside || isPunctuation(behind)),
      image: false,
    });
    at += count;
  }

  function closeBracket(): void {
    at += 1;
    const index = opened.findLastIndex(({char}) => char === '[');
    const bracket = opened[index];
    const target = bracket && TARGET.exec(source.slice(at, at + 4096));
    if (!bracket || !target) {
      if (bracket) opened.splice(index, 1);
      push(']');
      return;
    }
    const start = nodes.indexOf(bracket.node);
    emphasise(nodes, opened.splice(index).slice(1), start);
    const children = nodes.splice(start).slice(1);
    at += target[0].length;
    const href = (target[1] ?? target[2] ?? '').replace(/\\([!-/:-@[-`{-~])/g, '$1');
    nodes.push(bracket.image ? {type: 'image', alt: plain(children)} : {type: 'link', href, children});
  }

  while (at < source.length) {
    SPECIAL.lastIndex = at;
    const next = SPECIAL.exec(source)?.index ?? source.length;
    if (next > at) push(source.slice(at, next));
    at = next;
    const char = source[at];
    if (char === undefined) break;
    const rest = take;
    if (char === '\\' && rest(ESCAPED, ([, escaped = '']) => ({type: 'text', text: escaped}))) continue;
    if (char === '\\' && rest(/^\\\n/, () => ({type: 'break'}))) continue;
    if (char === '\n') {
      const last = nodes[nodes.length - 1];
      const hard = last?.type === 'text' && / {2,}$/.test(last.text);
      nodes.push(hard ? {type: 'break'} : {type: 'text', text: '\n'});
      at += 1;
    } else if (char === '`') code();
    else if (char === '*' || char === '_' || char === '~') run(char);
    else if (char === '[' && rest(CITE, ([raw, n]) => ({type: 'cite', n: Number(n), raw}))) continue;
    else if (char === '[' || (char === '!' && source[at + 1] === '[')) {
      const image = char === '!';
      opened.push({node: push(image ? '![' : '['), char: '[', count: 1, opens: false, closes: false, image});
      at += image ? 2 : 1;
    } else if (char === ']') closeBracket();
    else if (char === '$' && rest(DISPLAY, ([, tex = '']) => ({type: 'math', tex: tex.trim(), display: true}))) continue;
    else if (char === '$' && rest(MATH, ([, tex = '']) => ({type: 'math', tex, display: false}))) continue;
    else if (char === '<' && rest(ADDRESS, ([, href = '']) => link(href))) continue;
    else if (char === 'h') {
      const url = (BARE_URL.exec(source.slice(at, at + 2048))?.[0] ?? char).replace(/[.,:;!?)*_~]+$/, '');
      nodes.push(link(url));
      at += url.length;
    } else if (char === '&' && rest(ENTITY, (match) => ({type: 'text', text: decoded(match)}))) continue;
    else {
      push(char);
      at += 1;
    }
  }
  emphasise(nodes, opened, 0);
  return nodes;
}

/** Turn delimiter runs behind `from` into emphasis; the innermost pair first, as CommonMark has it. */
function emphasise(nodes: Inline[], runs: Open[], from: number): void {
  const openers: Open[] = [];
  for (const closer of runs) {
    if (closer.char === '[') continue;
    while (closer.closes && closer.count > 0) {
      const index = openers.findLastIndex((open) => open.char === closer.char && open.count > 0 && pairs(open, closer));
      const opener = openers[index];
      if (!opener) break;
      openers.length = index + 1;
      const used = closer.char === '~' ? closer.count : Math.min(opener.count, closer.count, 2);
      const start = nodes.indexOf(opener.node, from) + 1;
      const children = nodes.splice(start, nodes.indexOf(closer.node, start) - start);
      const type = closer.char === '~' ? 'del' : used === 2 ? 'strong' : 'em';
      nodes.splice(start, 0, {type, children});
      for (const end of [opener, closer]) {
        end.count -= used;
        end.node.text = end.node.text.slice(used);
      }
      if (opener.count === 0) openers.pop();
    }
    if (closer.opens && closer.count > 0) openers.push(closer);
    // A text with thousands of unpaired runs must not cost their square.
    if (openers.length > 64) openers.shift();
  }
}

function pairs(open: Open, close: Open): boolean {
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

function plain(nodes: readonly Inline[]): string {
  return nodes.map((node) => ('text' in node ? node.text : 'children' in node ? plain(node.children) : '')).join('');
}

function decoded([whole, decimal, hex, name]: RegExpExecArray): string {
  if (name) return ENTITIES[name] ?? whole;
  const code = decimal ? Number(decimal) : parseInt(hex ?? '', 16);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
}
