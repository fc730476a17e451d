// The little Markdown that answers use, as elements: paragraphs, lists, tables, code, emphasis, `[1]` markers.

import { el } from "./dom.js";

const INLINE = /(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)|\*\*(?=\S)([\s\S]*?\S)\*\*|\*(?=\S)([^*]*?\S)\*|\[(\d{1,3})\]/g;

/** Elements of an answer; `cite(n)` makes the link of a marker, or gives null. */
export function render(text, cite) {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const blocks = [];
  for (let i = 0; i < lines.length; ) {
    const fence = lines[i].match(/^ {0,3}(`{3,}|~{3,})/);
    if (fence) {
      const start = ++i;
      while (i < lines.length && !lines[i].trim().startsWith(fence[1])) i++;
      blocks.push(el("pre", { tabIndex: 0 }, el("code", {}, lines.slice(start, i++).join("\n"))));
    } else if (!lines[i].trim()) i++;
    else i = block(lines, i, blocks, cite);
  }
  return blocks;
}

function block(lines, start, blocks, cite) {
  const kind = kindOf(lines[start]);
  let end = start + 1;
  while (end < lines.length && lines[end].trim() && kindOf(lines[end]) === kind && kind !== "heading") end++;
  const part = lines.slice(start, end);
  if (kind === "ul" || kind === "ol") {
    const strip = (line) => line.replace(/^\s*(?:[-*+]|\d+[.)])\s+/, "");
    blocks.push(el(kind, {}, ...part.map((line) => el("li", {}, ...inline(strip(line), cite)))));
  } else if (kind === "table") blocks.push(table(part, cite));
  else if (kind === "quote") {
    const words = part.map((line) => line.replace(/^\s*>\s?/, "")).join(" ");
    blocks.push(el("blockquote", { className: "lutrin-quote" }, ...inline(words, cite)));
  } else if (kind === "heading") blocks.push(el("p", {}, el("strong", {}, ...inline(part[0].replace(/^#+\s+/, ""), cite))));
  else blocks.push(el("p", {}, ...inline(part.join("\n"), cite)));
  return end;
}

function kindOf(line) {
  if (/^\s*[-*+]\s+\S/.test(line)) return "ul";
  if (/^\s*\d+[.)]\s+\S/.test(line)) return "ol";
  if (/^\s*\|.*\|\s*(\[\d+\]\s*)*$/.test(line)) return "table";
  if (/^\s*>/.test(line)) return "quote";
  if (/^#{1,6}\s+\S/.test(line)) return "heading";
  return /^ {0,3}(`{3,}|~{3,})/.test(line) ? "fence" : "text";
}

function table(lines, cite) {
  const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
  const ruled = lines.length > 1 && /^[\s|:-]+$/.test(lines[1]);
  const row = (line, name) => el("tr", {}, ...cells(line).map((cell) => el(name, {}, ...inline(cell, cite))));
  const body = lines.filter((_, i) => !(ruled && i < 2)).map((line) => row(line, "td"));
  return el("table", {}, ruled ? el("thead", {}, row(lines[0], "th")) : null, el("tbody", {}, ...body));
}

function inline(text, cite) {
  const parts = [];
  let last = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, , code, strong, emphasis, number] = match;
    let made = null;
    if (code !== undefined) made = el("code", {}, code);
    else if (strong !== undefined) made = el("strong", {}, ...inline(strong, cite));
    else if (emphasis !== undefined) made = el("em", {}, ...inline(emphasis, cite));
    else made = cite(Number(number));
    if (made === null) continue;
    parts.push(text.slice(last, match.index), made);
    last = match.index + whole.length;
  }
  parts.push(text.slice(last));
  return parts.filter((part) => part !== "");
}
