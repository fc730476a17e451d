// A page of a book: its contents as a drawer and as a map of where one is, tabs, copies of code, a link to pass on, the
// chapters of a PDF. Without it everything stands on the page one below the other.

import { textOf } from "./texts.js";

const COPIED_MS = 1600;
/** Path of the shelf: `/`, or the path below which a proxy shows this server. */
const ROOT = new URL("..", import.meta.url).pathname;

/** An element with properties and children. */
function el(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

const article = document.querySelector("article");
const aside = document.querySelector(".aside");

// Hidden parts -----------------------------------------------------------------------------------------------------

/** What is hidden stays findable by the browser's own search, where it can do that. */
function conceal(element, hidden) {
  if (hidden) element.setAttribute("hidden", "onbeforematch" in element ? "until-found" : "");
  else element.removeAttribute("hidden");
}

/** How to show each part that may be hidden. */
const ways = new Map();

function reveal(element) {
  for (let inside = element; inside; inside = inside.parentElement) ways.get(inside)?.();
}

/** Whoever follows an address or a citation into a hidden part sees it. */
function follow() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target?.closest("[hidden]")) return;
  reveal(target);
  target.scrollIntoView();
}

/** The chat marks a passage some moments after it has led here. */
function followMark(tries = 12) {
  const [range] = globalThis.CSS?.highlights?.get("lutrin-passage") ?? [];
  const place = range?.startContainer.parentElement;
  if (place?.closest("[hidden]")) {
    reveal(place);
    place.scrollIntoView({ block: "center" });
  } else if (!place && tries > 0) {
    setTimeout(() => followMark(tries - 1), 250);
  }
}

// Tabs -------------------------------------------------------------------------------------------------------------

function tabs(group, number) {
  const panels = [...group.querySelectorAll(":scope > .tab")];
  if (panels.length < 2) return;
  const buttons = panels.map((panel, at) => {
    const label = panel.querySelector(":scope > .label");
    const button = el("button", { type: "button", role: "tab", id: `lutrin:tab-${number}-${at}`, textContent: label?.textContent || `${at + 1}` });
    label?.remove();
    Object.assign(panel, { id: panel.id || `lutrin:panel-${number}-${at}`, role: "tabpanel" });
    panel.setAttribute("aria-labelledby", button.id);
    button.setAttribute("aria-controls", panel.id);
    button.addEventListener("click", () => everywhere(button.textContent, at));
    ways.set(panel, () => choose(at));
    panel.addEventListener("beforematch", () => choose(at));
    return button;
  });
  const list = el("div", { className: "tablist", role: "tablist" }, ...buttons);
  list.addEventListener("keydown", (event) => {
    const at = buttons.indexOf(event.target);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1 + buttons.length, Home: 0, End: buttons.length - 1 }[event.key];
    if (at < 0 || next === undefined) return;
    event.preventDefault();
    buttons[next % buttons.length].click();
    buttons[next % buttons.length].focus();
  });
  group.prepend(list);
  group.tabs = { choose, titles: buttons.map((button) => button.textContent) };
  choose(0);

  function choose(chosen) {
    for (const [at, panel] of panels.entries()) {
      buttons[at].setAttribute("aria-selected", String(at === chosen));
      buttons[at].tabIndex = at === chosen ? 0 : -1;
      conceal(panel, at !== chosen);
    }
  }

  /** Who works on one system wants it in all places of the page. */
  function everywhere(title, at) {
    const top = list.getBoundingClientRect().top;
    choose(at);
    for (const other of article.querySelectorAll(".tabs")) {
      const same = other.tabs?.titles.indexOf(title) ?? -1;
      if (other !== group && same >= 0) other.tabs.choose(same);
    }
    scrollBy({ top: list.getBoundingClientRect().top - top, behavior: "instant" });
  }
}

// Code and tables --------------------------------------------------------------------------------------------------

async function copy(text, button) {
  const said = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without a secure connection browsers only copy what is selected.
    const area = el("textarea", { value: text });
    button.after(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  button.textContent = textOf("page.copied");
  button.classList.add("done");
  setTimeout(() => {
    button.textContent = said;
    button.classList.remove("done");
  }, COPIED_MS);
}

function copyable(code) {
  const box = el("div", { className: "codebox" });
  const button = el("button", { className: "copy", type: "button", textContent: textOf("page.copy"), ariaLabel: textOf("page.copy_this_code") });
  code.replaceWith(box);
  box.append(code, button);
  button.addEventListener("click", () => {
    button.ariaLabel = null;
    void copy(code.textContent.replace(/\n$/, ""), button);
  });
}

/** What fits needs no place in the order of the keyboard. */
function reachable() {
  for (const wide of article.querySelectorAll(".wide, pre")) {
    if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
    else wide.removeAttribute("tabindex");
  }
}

// Contents ---------------------------------------------------------------------------------------------------------

function drawer(opener) {
  const place = document.createComment("contents");
  const shut = el("button", { className: "tool", type: "button", textContent: textOf("page.close") });
  const dialog = el("dialog", { className: "drawer", ariaLabel: textOf("page.contents") }, el("div", { className: "bar" }, textOf("page.contents"), shut));
  document.body.append(dialog);
  opener.setAttribute("aria-haspopup", "dialog");
  opener.setAttribute("role", "button");
  const open = (event) => {
    event.preventDefault();
    aside.before(place);
    dialog.append(aside);
    dialog.showModal();
    aside.querySelector("[aria-current]")?.scrollIntoView({ block: "center" });
  };
  opener.addEventListener("click", open);
  opener.addEventListener("keydown", (event) => event.key === " " && open(event));
  shut.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => (event.target === dialog || event.target.closest("a")) && dialog.close());
  dialog.addEventListener("close", () => place.replaceWith(aside));
}

/** Marks the section that is read in the contents. */
function spy() {
  const links = new Map([...aside.querySelectorAll(".sections a")].map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
  const headings = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);
  if (!headings.length) return;
  let now;
  const look = () => {
    const shown = headings.filter((heading) => !heading.closest("[hidden]"));
    const end = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const passed = shown.filter((heading) => heading.getBoundingClientRect().top < innerHeight * (end ? 1 : 0.3)).at(-1);
    const link = passed && links.get(passed.id);
    if (link === now) return;
    now?.removeAttribute("aria-current");
    link?.setAttribute("aria-current", "location");
    now = link;
  };
  let waiting = false;
  const soon = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => ((waiting = false), look()));
  };
  addEventListener("scroll", soon, { passive: true });
  addEventListener("lutrin-part", soon);
  look();
}

// Terms ------------------------------------------------------------------------------------------------------------

const PROSE = "p, li, dd, blockquote";
const NO_PROSE = "a, code, pre, h1, h2, h3, h4, .notes, .admonition-title, .term, math, svg, button";

/** Each term that the page uses in its sense shows its definition, at the first such place. */
async function terms({ book, page }) {
  const response = await fetch(`${ROOT}api/terms?${new URLSearchParams({ book, page })}`).catch(() => undefined);
  if (!response?.ok) return;
  const { terms: all } = await response.json();
  if (!all.length) return;
  const tip = el("div", { className: "meaning", id: "lutrin:term-tip", role: "tooltip", popover: "manual" });
  document.body.append(tip);
  const hide = () => tip.matches(":popover-open") && tip.hidePopover();
  document.addEventListener("pointerdown", ({ target }) => target.closest?.("a.term") || hide());
  const waiting = new Set(all.sort((one, other) => other.name.length - one.name.length));
  for (const { places } of waiting) for (const place of places) place.plain = plain(place.text);
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) {
    const { parentElement: parent } = walker.currentNode;
    if (parent.closest(PROSE) && !parent.closest(NO_PROSE)) texts.push(walker.currentNode);
  }
  for (const text of texts) {
    for (const { term, start, end } of used(text, waiting).reverse()) {
      const rest = text.splitText(start);
      rest.splitText(end - start);
      const { url, quote, definition } = term;
      const link = el("a", { className: "term", href: ROOT + url.slice(1) }, rest.data);
      link.dataset.lutrinQuote = quote;
      link.setAttribute("aria-describedby", tip.id);
      rest.replaceWith(link);
      const show = () => shown(tip, link, definition);
      link.addEventListener("pointerenter", ({ pointerType }) => pointerType !== "touch" && show());
      link.addEventListener("focus", show);
      link.addEventListener("pointerleave", ({ pointerType }) => pointerType !== "touch" && hide());
      link.addEventListener("blur", hide);
      link.addEventListener("keydown", (event) => event.key === "Escape" && hide());
      // A thumb has no hovering: its first tap shows the meaning, the next one leads to the place.
      let again = false;
      link.addEventListener("pointerdown", () => (again = tip.matches(":popover-open") && tip.textContent.startsWith(definition)));
      link.addEventListener("click", (event) => {
        if (event.pointerType !== "touch" || again) return;
        event.preventDefault();
        event.stopPropagation();
        shown(tip, link, definition, textOf("page.tap_again"));
      });
    }
  }
  dispatchEvent(new Event("lutrin-terms"));
}

const plain = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");

/** The places of a text at which terms are meant that were not told yet, the first first; a longer name holds shorter ones. */
function used(text, waiting) {
  const block = plain(text.parentElement.closest(PROSE).textContent);
  const found = [];
  for (const term of waiting) {
    for (const { word } of term.places.filter(({ plain: sentence }) => block.includes(sentence))) {
      const at = new RegExp(`(?<![\\p{L}\\p{N}_-])${word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\p{L}\\p{N}_-])`, "u").exec(text.data);
      const [start, end] = at ? [at.index, at.index + word.length] : [0, 0];
      if (!at || found.some((other) => start < other.end && other.start < end)) continue;
      found.push({ term, start, end });
      waiting.delete(term);
      break;
    }
  }
  return found.sort((one, other) => one.start - other.start);
}

function shown(tip, link, definition, hint = "") {
  tip.replaceChildren(definition, ...(hint ? [el("small", { textContent: hint })] : []));
  tip.showPopover();
  const place = link.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.max(8, Math.min(place.left, document.documentElement.clientWidth - width - 8));
  const above = place.top - height - 8;
  Object.assign(tip.style, { left: `${left}px`, top: `${above > 64 ? above : place.bottom + 8}px` });
}

// The chapters of a PDF --------------------------------------------------------------------------------------------

function chapters(parts) {
  const turn = document.querySelector("[data-turn]");
  const titles = parts.map((part) => part.querySelector("h1")?.firstChild?.textContent || part.dataset.pages);
  const pager = el("nav", { className: "turn", ariaLabel: textOf("page.parts") });
  turn.before(pager);
  const step = (at, label, rel) => {
    if (!parts[at]) return [];
    const id = parts[at].querySelector("section.page").id;
    const link = el("a", { href: `#${id}`, rel }, el("span", { textContent: label }), ` ${titles[at]}`);
    link.addEventListener("click", (event) => {
      event.preventDefault();
      history.pushState(null, "", `#${id}`);
      show(at);
      scrollTo({ top: 0, behavior: "instant" });
    });
    return [link];
  };
  function show(chosen) {
    for (const [at, part] of parts.entries()) conceal(part, at !== chosen);
    pager.replaceChildren(...step(chosen - 1, textOf("page.previous"), "prev"), ...step(chosen + 1, textOf("page.next"), "next"));
    dispatchEvent(new Event("lutrin-part"));
  }
  for (const [at, part] of parts.entries()) {
    ways.set(part, () => show(at));
    part.addEventListener("beforematch", () => show(at));
  }
  show(0);
  addEventListener("popstate", () => location.hash || show(0));
}

// Figures ----------------------------------------------------------------------------------------------------------

/** A drawing that is not an SVG is known by its paper: nearly all of its border and most of it is white or nothing. */
function isDrawing(image) {
  const side = 32;
  const pen = Object.assign(document.createElement("canvas"), { width: side, height: side }).getContext("2d");
  pen.drawImage(image, 0, 0, side, side);
  const { data } = pen.getImageData(0, 0, side, side);
  const paper = Array.from({ length: side * side }, (_, at) => data[4 * at + 3] < 8 || Math.min(...data.subarray(4 * at, 4 * at + 3)) > 236);
  const border = paper.filter((_, at) => at < side || at >= side * (side - 1) || at % side === 0 || at % side === side - 1);
  const share = (of) => of.filter(Boolean).length / of.length;
  return share(border) > 0.9 && share(paper) > 0.6 && !hasTones(image);
}

/** A photograph on white ground: most of its pixels are a little lighter or darker than their neighbours. Ink is even. */
function hasTones(image) {
  const [width, height] = [image.naturalWidth, image.naturalHeight].map((side) => Math.min(side, 600));
  const pen = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d");
  // The middle in its own size: in a smaller one, all edges are soft.
  pen.drawImage(image, Math.round((width - image.naturalWidth) / 2), Math.round((height - image.naturalHeight) / 2));
  const { data } = pen.getImageData(0, 0, width, height);
  const isInk = (at) => data[at + 3] > 8 && Math.min(data[at], data[at + 1], data[at + 2]) < 236;
  let [pairs, soft] = [0, 0];
  for (let at = 4; at < data.length; at += 4) {
    if (at % (4 * width) === 0 || !isInk(at) || !isInk(at - 4)) continue;
    const step = Math.max(...[0, 1, 2].map((channel) => Math.abs(data[at + channel] - data[at - 4 + channel])));
    pairs += 1;
    if (step > 0 && step < 25) soft += 1;
  }
  return soft > 0.55 * pairs;
}

/** In the dark its ink turns light, as the style sheet says of drawings. */
async function figure(image) {
  if (!image.complete) await new Promise((resolve) => image.addEventListener("load", resolve, { once: true }));
  if (image.naturalWidth && isDrawing(image)) image.classList.add("drawing");
}

// Passing a place on -----------------------------------------------------------------------------------------------

function sharing(sheet) {
  const address = sheet.querySelector("[data-shared-address]");
  sheet.addEventListener("beforetoggle", (event) => {
    if (event.newState !== "open") return;
    const passed = [...article.querySelectorAll(":is(h1, h2, h3)[id]")]
      .filter((heading) => !heading.closest("[hidden]") && scrollY > 0 && heading.getBoundingClientRect().top < innerHeight * 0.4)
      .at(-1);
    const place = passed && passed.tagName !== "H1" ? `#${encodeURIComponent(passed.id)}` : location.hash;
    const path = location.pathname + place;
    sheet.querySelector("[data-shared]").textContent = passed?.firstChild?.textContent ?? article.querySelector("h1")?.textContent ?? document.title;
    address.textContent = location.origin + path;
    const alone = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
    sheet.querySelector("[data-shared-alone]").hidden = !alone;
    const code = sheet.querySelector("[data-shared-code]");
    code.hidden = alone;
    if (!alone) code.src = `${ROOT}qr.svg?${new URLSearchParams({ to: path })}`;
  });
  const copying = sheet.querySelector("[data-copy-address]");
  copying.addEventListener("click", () => void copy(address.textContent, copying));
  sheet.querySelector("[data-print]").addEventListener("click", () => {
    sheet.hidePopover();
    print();
  });
}

for (const [number, group] of [...article.querySelectorAll(".tabs")].entries()) tabs(group, number);
for (const code of article.querySelectorAll("pre")) copyable(code);
const parts = [...article.querySelectorAll(":scope > .part")];
if (parts.length > 1) chapters(parts);
for (const image of article.querySelectorAll("img[data-look]")) void figure(image);
reachable();
addEventListener("resize", reachable);
drawer(document.querySelector(".to-contents"));
spy();
sharing(document.getElementById("lutrin:share"));
void terms(document.querySelector("main").dataset);
follow();
followMark();
article.addEventListener("lutrin-reveal", (event) => reveal(event.target));
addEventListener("hashchange", () => {
  follow();
  followMark();
});
// A printed page has everything on it, and folded parts open.
addEventListener("beforeprint", () => {
  for (const folded of article.querySelectorAll("details:not([open])")) {
    if (!folded.closest(".notes, .diagram")) Object.assign(folded, { open: true }).dataset.printed = "";
  }
});
addEventListener("afterprint", () => {
  for (const folded of article.querySelectorAll("details[data-printed]")) folded.open = false;
});
