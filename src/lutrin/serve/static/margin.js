// Highlights and notes of this reader: marked in the page, written beside it, listed, exported, deleted. Only this browser
// keeps them. A passage is known by its own words and those around it, so it is found again when a book was read anew.

import { AROUND, extent, lettersOf, locate, rangeAt } from "./passages.js";
import { textOf } from "./texts.js";

const STORE = "lutrin:notes:";
/** On the page's root: the chat then offers Highlight and Note for selected text, and sends `lutrin:note`. */
const OFFERED = "data-lutrin-notes";
const HIGHLIGHT = "lutrin-notes";
/** Of one passage: about two pages of print. */
const MOST_LETTERS = 6000;
const MOST_NOTE_CHARS = 4000;
const UNDO_MS = 8000;
const HEADINGS = ":is(h1, h2, h3, h4)[id], section.page[id]";
const BLOCKS = "p, li, dt, dd, blockquote, figcaption, td, th, summary, h1, h2, h3, h4";

/** An element with properties and children. */
function el(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

function button(words, act, className = "") {
  const made = el("button", { type: "button", textContent: words, className });
  made.addEventListener("click", act);
  return made;
}

const main = document.querySelector("main[data-book], main[data-cover]");
const { book = main.dataset.cover, page = "", path = "", title = "" } = main.dataset;
const bookTitle = main.dataset.bookTitle;
const article = page ? document.querySelector("article") : null;

// What is kept -----------------------------------------------------------------------------------------------------

function recall() {
  try {
    const kept = JSON.parse(localStorage.getItem(STORE + book) ?? "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return []; // no storage, or nothing that can be read
  }
}

/** @returns Whether the browser keeps it. */
function keep(notes) {
  try {
    if (notes.length) localStorage.setItem(STORE + book, JSON.stringify(notes));
    else localStorage.removeItem(STORE + book);
    return true;
  } catch {
    say(textOf("margin.full"));
    return false;
  }
}

function change(id, values) {
  return keep(recall().map((note) => (note.id === id ? { ...note, ...values } : note)));
}

// On the page ------------------------------------------------------------------------------------------------------

/** The ranges of this page's notes that stand on it. */
const ranges = new Map();

function draw() {
  if (!article) return;
  for (const pin of article.querySelectorAll(".pin")) pin.remove();
  ranges.clear();
  const text = lettersOf(article);
  const notes = recall();
  for (const note of notes.filter((one) => one.page === page)) {
    const at = locate(text.letters, note);
    if (at >= 0) ranges.set(note.id, rangeAt(text, at, at + note.letters.length));
    Object.assign(note, { lost: at < 0, order: at < 0 ? note.order : at });
  }
  for (const [id, range] of ranges) pinned(notes.find((note) => note.id === id), range);
  if (globalThis.CSS?.highlights) {
    if (ranges.size) CSS.highlights.set(HIGHLIGHT, new Highlight(...ranges.values()));
    else CSS.highlights.delete(HIGHLIGHT);
  }
}

/** A small button behind the block in which the passage ends: it opens the note by thumb and by keyboard. */
function pinned(note, range) {
  const { endContainer } = range;
  const element = endContainer.parentElement;
  const pin = el("button", { type: "button", className: note.note ? "pin written" : "pin" });
  pin.dataset.note = note.id;
  pin.setAttribute("aria-label", note.note ? textOf("margin.note", { words: note.note.slice(0, 80) }) : textOf("margin.highlight", { words: note.quote.slice(0, 80) }));
  pin.addEventListener("click", () => edit(note.id, pin));
  const code = element.closest(".codebox, pre");
  const block = code ?? element.closest(BLOCKS);
  if (code || !block || !article.contains(block)) (block && article.contains(block) ? block : element).after(pin);
  else block.append(pin);
}

function pinOf(id) {
  return article?.querySelector(`.pin[data-note="${CSS.escape(id)}"]`);
}

/** Lead to a passage that stands on this page. */
function go(id) {
  const range = ranges.get(id);
  if (!range) return false;
  const element = range.startContainer.parentElement;
  element.dispatchEvent(new CustomEvent("lutrin-reveal", { bubbles: true }));
  for (let folded = element.closest("details"); folded; folded = folded.parentElement.closest("details")) folded.open = true;
  scrollBy({ top: range.getBoundingClientRect().top - innerHeight / 3, behavior: "instant" });
  pinOf(id)?.focus({ preventScroll: true });
  return true;
}

/** The heading above a passage. */
function headingOf(range) {
  const above = [...article.querySelectorAll(HEADINGS)].filter((heading) => range.comparePoint(heading, 0) <= 0 || heading.contains(range.startContainer));
  return above.at(-1);
}

function add({ range, selectedText, write }) {
  const text = lettersOf(article);
  const found = range && extent(range, text);
  if (!found) return say(textOf("margin.outside"));
  const [start, end] = found;
  if (end - start > MOST_LETTERS) return say(textOf("margin.long"));
  const letters = text.letters.slice(start, end);
  const before = text.letters.slice(Math.max(0, start - AROUND), start);
  const after = text.letters.slice(end, end + AROUND);
  const notes = recall();
  const there = notes.find((note) => note.page === page && note.letters === letters && note.before === before);
  const heading = headingOf(range);
  const note = there ?? {
    id: crypto.getRandomValues(new Uint32Array(2)).join("-"),
    page,
    path,
    title,
    anchor: heading && heading.tagName !== "H1" ? heading.id : "",
    section: heading?.firstChild?.textContent ?? "",
    quote: selectedText.replace(/\s+/g, " ").trim(),
    letters,
    before,
    after,
    order: start,
    note: "",
    at: new Date().toISOString(),
  };
  if (!there && !keep([...notes, note])) return;
  getSelection()?.removeAllRanges();
  draw();
  count();
  const pin = pinOf(note.id);
  pin?.focus({ preventScroll: true });
  if (write || there) edit(note.id, pin);
  else say(textOf("margin.marked"), () => remove(note.id, false));
}

// The note beside its passage --------------------------------------------------------------------------------------

const editor = el("div", { className: "sheet noted", popover: "auto" });
editor.setAttribute("role", "dialog");
editor.setAttribute("aria-label", textOf("margin.your_note"));
let edited;

function edit(id, pin) {
  const note = recall().find((one) => one.id === id);
  if (!note) return;
  said.replaceChildren();
  edited = id;
  const field = el("textarea", { id: "lutrin:own-note", rows: 4, maxLength: MOST_NOTE_CHARS, value: note.note, placeholder: textOf("margin.nothing_written") });
  field.addEventListener("input", () => change(id, { note: field.value.trim() }));
  editor.replaceChildren(
    el("blockquote", { textContent: shortened(note.quote) }),
    el("label", { htmlFor: "lutrin:own-note", textContent: textOf("margin.your_note") }),
    field,
    el("div", { className: "acts" }, button(textOf("margin.delete"), () => remove(id, true)), button(textOf("margin.done"), () => editor.hidePopover(), "first")),
    el("p", { className: "quiet", textContent: textOf("margin.only") }),
  );
  editor.showPopover();
  const anchor = (pin ?? article).getBoundingClientRect();
  const { width, height } = editor.getBoundingClientRect();
  const left = Math.max(8, Math.min(anchor.left - width / 2, document.documentElement.clientWidth - width - 8));
  // Below the passage, or above it: what a note is about can be read while one writes. On a phone the page makes room.
  const below = anchor.bottom + 8;
  const above = Math.min(anchor.top, ranges.get(id)?.getBoundingClientRect().top ?? anchor.top) - height - 8;
  const missing = above < 64 ? Math.max(0, below + height + 8 - innerHeight) : 0;
  scrollBy({ top: missing, behavior: "instant" });
  const top = missing || below + height < innerHeight ? below - missing : above;
  editor.style.setProperty("inset", `${top}px auto auto ${left}px`);
  field.focus({ preventScroll: true });
}

editor.addEventListener("toggle", (event) => {
  if (event.newState === "open" || !edited) return;
  const id = edited;
  edited = undefined;
  draw();
  pinOf(id)?.focus({ preventScroll: true });
});

/** @param back Whether the reader may want to have it back by pressing Undo. */
function remove(id, back) {
  const notes = recall();
  const note = notes.find((one) => one.id === id);
  if (!note || !keep(notes.filter((one) => one.id !== id))) return;
  edited = undefined;
  if (editor.matches(":popover-open")) editor.hidePopover();
  refresh();
  if (back) say(textOf("margin.deleted"), () => restore([note]));
}

function restore(notes) {
  if (keep([...recall(), ...notes])) refresh();
}

function refresh() {
  draw();
  count();
  if (list.open) show();
}

function shortened(text, most = 220) {
  return text.length <= most ? text : `${text.slice(0, text.lastIndexOf(" ", most))} …`;
}

// What was done ----------------------------------------------------------------------------------------------------

const said = el("div", { className: "said-once", role: "status" });
let quiet;

/** @param undo What takes it back; nothing: it cannot be. */
function say(words, undo) {
  clearTimeout(quiet);
  const back = button(textOf("margin.undo"), () => {
    said.replaceChildren();
    undo();
  });
  // A dialog hides what stands behind it, from readers of screens, too.
  (list.open ? list : document.body).append(said);
  said.replaceChildren(words, ...(undo ? [back] : []));
  quiet = setTimeout(() => said.replaceChildren(), UNDO_MS);
}

// All of a book ----------------------------------------------------------------------------------------------------

const list = el("dialog", { className: "drawer notebook", ariaLabel: textOf("margin.highlights_and_notes") });
const opener = document.querySelector("[data-open-notes]");

function count() {
  const all = recall().length;
  opener.dataset.count = all || "";
  opener.setAttribute("aria-label", all ? textOf("margin.highlights_and_notes_here", { all }) : textOf("margin.highlights_and_notes"));
}

/** All notes by page, in the order of the book. */
function inOrder(notes) {
  const pages = [...document.querySelectorAll("[id='lutrin:contents'] a")].map((link) => link.pathname);
  const at = (note) => (pages.includes(note.path) ? pages.indexOf(note.path) : pages.length);
  const sorted = [...notes].sort((one, other) => at(one) - at(other) || one.page.localeCompare(other.page) || one.order - other.order);
  return Map.groupBy ? Map.groupBy(sorted, (note) => note.page) : sorted.reduce((groups, note) => groups.set(note.page, [...(groups.get(note.page) ?? []), note]), new Map());
}

function show() {
  const notes = recall();
  const shut = button(textOf("margin.close"), () => list.close(), "tool");
  const groups = [...inOrder(notes).values()].map((group) =>
    el("section", {}, el("h3", {}, el("a", { href: group[0].path, textContent: group[0].title })), el("ul", {}, ...group.map(item))),
  );
  const acts = el("div", { className: "acts" }, button(textOf("margin.export"), download, "first"), button(textOf("margin.delete_all"), removeAll));
  list.replaceChildren(
    el("div", { className: "bar" }, el("h2", { textContent: textOf("margin.highlights_and_notes") }), shut),
    el("p", { className: "quiet", textContent: notes.length ? textOf("margin.only") : `${textOf("margin.none")} ${textOf("margin.only")}` }),
    ...groups,
    ...(notes.length ? [acts] : []),
    said,
  );
}

/** Why a passage cannot be led to; empty: it can. */
function troubleOf(note) {
  return note.gone ? textOf("margin.gone") : note.lost ? textOf("margin.lost") : "";
}

function item(note) {
  const link = el("a", { href: `${note.path}#note=${note.id}`, textContent: shortened(note.quote) });
  link.addEventListener("click", (event) => {
    if (note.page !== page || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    list.close();
    go(note.id);
  });
  const trouble = troubleOf(note);
  return el(
    "li",
    {},
    el("blockquote", {}, trouble ? shortened(note.quote) : link),
    ...(note.note ? [el("p", { className: "own", textContent: note.note })] : []),
    ...(trouble ? [el("p", { className: "lost", textContent: trouble })] : []),
    button(textOf("margin.delete"), () => remove(note.id, true)),
  );
}

/** Two presses, for it takes everything; and it can be taken back for a while. */
function removeAll(event) {
  const pressed = event.currentTarget;
  if (!pressed.dataset.sure) {
    pressed.dataset.sure = "yes";
    pressed.textContent = textOf("margin.delete_all_for_good");
    return;
  }
  const notes = recall();
  if (!keep([])) return;
  refresh();
  say(textOf("margin.all_deleted"), () => restore(notes));
}

/** A page of the book as it is now; null: it is gone. Scripts of a document that is read so do not run. */
function fetched(address) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.responseType = "document";
    request.addEventListener("load", () => (request.status === 404 ? resolve(null) : request.status === 200 ? resolve(request.response) : reject(new Error(String(request.status)))));
    request.addEventListener("error", () => reject(new Error("no connection")));
    request.open("GET", address);
    request.send();
  });
}

/** Look on the other pages whether what was marked there still stands. */
async function check() {
  const found = new Map();
  for (const [filename, group] of inOrder(recall())) {
    if (filename === page && article) {
      for (const note of group) found.set(note.id, { lost: !ranges.has(note.id), gone: false });
      continue;
    }
    try {
      const there = await fetched(group[0].path);
      const letters = there && lettersOf(there.querySelector("article")).letters;
      for (const note of group) found.set(note.id, { gone: !there, lost: Boolean(there) && locate(letters, note) < 0 });
    } catch {
      // No connection: what is known of it stays.
    }
  }
  const notes = recall();
  const next = notes.map((note) => ({ ...note, ...found.get(note.id) }));
  if (JSON.stringify(next) === JSON.stringify(notes)) return;
  keep(next);
  if (list.open) show();
}

// To take along ----------------------------------------------------------------------------------------------------

function markdown() {
  const plain = (text) => text.replace(/[\\`*_[\]<>]/g, "\\$&");
  const lines = [`# ${textOf("margin.notes_on", { title: plain(bookTitle) })}`, ""];
  for (const group of inOrder(recall()).values()) {
    lines.push(`## ${plain(group[0].title)}`, "");
    for (const note of group) {
      const trouble = troubleOf(note);
      const address = location.origin + note.path + (note.anchor ? `#${encodeURIComponent(note.anchor)}` : "");
      lines.push(`> ${plain(note.quote)}`, "");
      if (note.note) lines.push(note.note, "");
      lines.push(trouble ? `*${trouble}*` : `[${plain(note.section || note.title)}](${address})`, "");
    }
  }
  return lines.join("\n");
}

function download() {
  const address = URL.createObjectURL(new Blob([markdown()], { type: "text/markdown" }));
  const link = el("a", { href: address, download: `${book}-notes.md` });
  list.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// ------------------------------------------------------------------------------------------------------------------

document.body.append(list, editor, said);
count();
opener.addEventListener("click", () => {
  said.replaceChildren();
  show();
  list.showModal();
  void check();
});
list.addEventListener("click", (event) => event.target === list && list.close());
addEventListener("storage", (event) => event.key === STORE + book && !editor.matches(":popover-open") && refresh());
if (article) {
  document.documentElement.setAttribute(OFFERED, "");
  addEventListener("lutrin:note", (event) => add(event.detail));
  addEventListener("lutrin-terms", draw);
  draw();
  const lead = () => location.hash.startsWith("#note=") && go(location.hash.slice(6));
  lead();
  addEventListener("hashchange", lead);
  // A marked passage opens its note, unless the reader follows a link in it or selects.
  article.addEventListener("click", (event) => {
    if (event.target.closest("a, button, summary, label") || !getSelection().isCollapsed) return;
    const { offsetNode, offset } = document.caretPositionFromPoint?.(event.clientX, event.clientY) ?? {};
    const [id] = [...ranges].find(([, range]) => offsetNode && range.isPointInRange(offsetNode, offset)) ?? [];
    if (id) edit(id, pinOf(id));
  });
}
