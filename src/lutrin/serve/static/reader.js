// The built-in reader's own script: how the page looks, its contents, and where the reader left off. Pages can be read
// without it.

import { textOf } from "./texts.js";

/** Path of the shelf: `/`, or the path below which a proxy shows this server. */
const ROOT = new URL("..", import.meta.url).pathname;
const STORE = "lutrin:reading:";
/** A thumb that goes so far means it, in pixels. */
const THUMB = 24;

/** An element with properties and children. */
function el(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

// Where the reader left off ----------------------------------------------------------------------------------------

function remember(main) {
  const { book, title } = main.dataset;
  const headings = [...main.querySelectorAll("article :is(h2, h3)[id], article section.page[id]")];
  const save = () => {
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < innerHeight / 2).at(-1);
    const place = passed && scrollY > 0 ? `#${encodeURIComponent(passed.id).replaceAll("%3D", "=")}` : "";
    keep(STORE + book, JSON.stringify({ address: location.pathname + place, title }));
  };
  // A page that is left may be told so only after the next one has begun: a jump is saved at once, then where one rests.
  let resting = 0;
  const rest = () => {
    resting = 0;
    save();
  };
  addEventListener("scroll", () => {
    if (!resting) save();
    clearTimeout(resting);
    resting = setTimeout(rest, 200);
  }, { passive: true });
  save();
}

function offer(holder, slug) {
  const kept = recall(STORE + slug);
  if (!kept) return;
  const { address, title } = JSON.parse(kept);
  const links = [...document.querySelectorAll(".whole a")];
  const known = links.find((link) => link.pathname === address.split("#")[0]);
  if (links.length && !known) return; // the page is gone from the book
  known?.setAttribute("aria-current", "location");
  holder.querySelector(".size").after(el("p", { className: "continue" }, el("a", { href: address }, el("span", {}, textOf("reader.continue_reading")), ` ${title}`)));
}

function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Without storage the shelf shows no place to go on from.
  }
}

function recall(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

// How pages look --------------------------------------------------------------------------------------------------

function look(name) {
  const root = document.documentElement;
  for (const choice of document.querySelectorAll(`[name=look-${name}]`)) {
    choice.checked = choice.value === (root.dataset[name] ?? "");
    choice.addEventListener("change", () => {
      if (choice.value) root.dataset[name] = choice.value;
      else delete root.dataset[name];
      keep(`lutrin:${name}`, choice.value);
      scheme();
    });
  }
}

/** The chat follows the page. */
function scheme() {
  const { theme } = document.documentElement.dataset;
  const chat = document.querySelector("lutrin-chat");
  if (theme) chat?.setAttribute("scheme", theme);
  else chat?.removeAttribute("scheme");
}

// Reading on a phone ----------------------------------------------------------------------------------------------

/**
 * While a thumb or a wheel goes on through the text, the round button of the chat is away where it would stand on words;
 * on the way back, and at the end, it is there.
 */
function standAside() {
  const root = document.documentElement;
  const back = () => delete root.dataset.readingOn;
  const moved = (way) => {
    if (way < -THUMB && scrollY > 0) root.dataset.readingOn = "";
    else if (way > THUMB) back();
  };
  let from = 0;
  addEventListener("touchstart", ({ touches }) => (from = touches[0].clientY), { passive: true });
  addEventListener("touchmove", ({ touches }) => moved(touches[0].clientY - from), { passive: true });
  addEventListener("wheel", ({ deltaY }) => deltaY && moved(deltaY > 0 ? -Infinity : Infinity), { passive: true });
  addEventListener("scroll", () => {
    if (scrollY <= 0 || scrollY + innerHeight > root.scrollHeight - THUMB) back();
  }, { passive: true });
}

// Without a network -----------------------------------------------------------------------------------------------

const WORKER = `${ROOT}worker.js`;

/** Browsers let a page keep itself only where nobody on the way can have changed it. */
async function keepForOffline() {
  const told = document.querySelector("[data-offline]");
  const { serviceWorker: workers } = navigator;
  if (!isSecureContext || !workers) {
    told?.replaceChildren(textOf("reader.https_keeps_pages"));
    return;
  }
  try {
    // A page's policy lets no other script become a worker.
    const address = globalThis.trustedTypes?.createPolicy("lutrin-worker", { createScriptURL: () => WORKER }).createScriptURL(WORKER) ?? WORKER;
    await workers.register(address);
    const { active } = await workers.ready;
    active.postMessage({ keep: location.href.split("#")[0] });
    await offerBook(document.querySelector("[data-keep-book]"), active);
    told?.replaceChildren(textOf("reader.opened_pages_stay"));
  } catch {
    // Private windows of some browsers allow none: pages are there while the server is.
  }
}

/** A button that keeps a book whole in this browser, or lets it go. */
async function offerBook(button, worker) {
  if (!button) return;
  const { keepBook: slug } = button.dataset;
  const name = `lutrin-book-${slug}`;
  const said = button.parentElement.querySelector("[role=status]");
  const say = (isHere) => {
    button.textContent = textOf(isHere ? "reader.remove_from_device" : "reader.keep_offline");
    button.dataset.here = isHere ? "yes" : "";
  };
  const pages = [...document.querySelectorAll(".whole a")].map((link) => link.href.split("#")[0]);
  const study = ["", "/today", "/deck", "/glossary", "/guide", "/deck.json"].map((path) => new URL(`${ROOT}study/${slug}${path}`, location).href);
  const addresses = [...new Set([location.href.split("#")[0], ...pages, ...study])];
  navigator.serviceWorker.addEventListener("message", ({ data }) => {
    if (data?.book !== slug || !data.of) return;
    const { kept, of } = data;
    said.textContent = kept < of ? textOf("reader.pages_are_here", { kept, of }) : textOf("reader.whole_book_is_here");
    if (kept === of) say(true);
  });
  button.addEventListener("click", async () => {
    if (!button.dataset.here) return worker.postMessage({ keepBook: slug, addresses });
    await caches.delete(name);
    said.textContent = "";
    say(false);
  });
  say(await caches.has(name));
  button.parentElement.hidden = false;
}

const MOST_KEPT = 12;
const SIGNS = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&#34;": '"', "&#39;": "'" };

/** What can be read now, opened last first: the page that says that there is no network leads there. */
async function listKept(section) {
  const links = [];
  for (const name of globalThis.caches ? await caches.keys() : []) {
    const cache = await caches.open(name);
    for (const { url } of (await cache.keys()).reverse()) {
      if (links.length === MOST_KEPT || !/^(read|study)\//.test(new URL(url).pathname.slice(ROOT.length))) continue;
      const page = await (await cache.match(url, { ignoreVary: true })).text();
      const title = (/<title>([^<]+)</.exec(page)?.[1] ?? url).replace(/&(amp|lt|gt|#34|#39);/g, (sign) => SIGNS[sign]);
      links.push(el("li", {}, el("a", { href: url, textContent: title })));
    }
  }
  section.querySelector("ul").append(...links);
  section.hidden = !links.length;
}

// A first visit while the language model is on its way -------------------------------------------------------------

const MODEL_MS = 5000;

/** Whoever opens the shelf on the server's own computer sees how far the model is; nothing waits for it. */
async function modelComing(line) {
  for (;;) {
    const ready = await fetch(`${ROOT}ready`).then((response) => response.json()).catch(() => ({}));
    line.hidden = !["arriving", "measuring"].includes(ready.model_state);
    if (line.hidden) return;
    line.textContent = ready.model_progress || textOf("reader.model_is_loading");
    await new Promise((resolve) => setTimeout(resolve, MODEL_MS));
  }
}

// Pictures --------------------------------------------------------------------------------------------------------

/** Those far below come last, but they come: print and pages kept for later have them, too. */
function pictures() {
  for (const picture of document.querySelectorAll("article img[loading=lazy]")) picture.loading = "eager";
}

// The page ---------------------------------------------------------------------------------------------------------

standAside();
look("theme");
look("size");
look("hints");
scheme();
for (const card of document.querySelectorAll(".card[data-book]")) offer(card, card.dataset.book);
const cover = document.querySelector("[data-cover]");
if (cover) offer(cover, cover.dataset.cover);
const main = document.querySelector("main[data-book]");
if (main) remember(main);
for (const place of document.querySelectorAll("[data-address]")) place.textContent = location.href.split("#")[0];
const here = document.querySelector(".aside [aria-current]");
if (here) here.closest(".aside").scrollTop = here.offsetTop - innerHeight / 3;
const views = document.querySelector(".views");
if (views) views.scrollLeft = views.querySelector("[aria-current]")?.offsetLeft - views.offsetLeft - views.clientWidth / 2;
// Reading comes first.
function afterwards() {
  pictures();
  void keepForOffline();
  const coming = document.querySelector("[data-model]");
  if (coming && ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname)) void modelComing(coming);
  const kept = document.querySelector("[data-kept]");
  if (kept) void listKept(kept);
}
if (document.readyState === "complete") afterwards();
else addEventListener("load", afterwards);
