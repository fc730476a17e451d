// One box for searching and asking: it lists what fits while one types, and asks with Enter. Without it the form leads
// to a page that lists the same. A combobox with a list box, as the ARIA Authoring Practices describe it.

import { countOf, textOf } from "./texts.js";

/** Path of the shelf: `/`, or the path below which a proxy shows this server. */
const ROOT = new URL("..", import.meta.url).pathname;

/** An element with properties and children. */
function el(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

/** Ask the panel. */
function ask(question) {
  dispatchEvent(new CustomEvent("lutrin:ask", { detail: { question } }));
}

class Box {
  #form;
  #input;
  #list;
  #said;
  #shown = "";
  #at = -1;
  #asking;

  constructor(form) {
    this.#form = form;
    this.#input = form.querySelector("input[type=search]");
    this.#list = form.querySelector(".found");
    this.#said = form.querySelector(".said");
    const go = form.querySelector(".go");
    go.textContent = textOf("box.ask");
    for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": this.#list.id })) {
      this.#input.setAttribute(name, value);
    }
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#options[this.#at] ? this.#options[this.#at].click() : this.#ask();
    });
    this.#input.addEventListener("input", () => void this.#look());
    this.#input.addEventListener("focus", () => this.#shown && this.#open());
    form.addEventListener("keydown", (event) => this.#key(event));
    this.#list.addEventListener("click", (event) => this.#chosen(event));
    // The box keeps the focus while the mouse chooses.
    this.#list.addEventListener("mousedown", (event) => event.preventDefault());
    document.addEventListener("pointerdown", (event) => form.contains(event.target) || this.close());
  }

  get #options() {
    return this.#list.hidden ? [] : [...this.#list.querySelectorAll("[role=option]")];
  }

  get #words() {
    return this.#input.value.trim();
  }

  focus() {
    this.#input.focus();
    this.#input.select();
  }

  close() {
    this.#asking?.abort();
    this.#list.hidden = true;
    this.#mark(-1);
    this.#input.setAttribute("aria-expanded", "false");
    this.#tell("");
  }

  #open() {
    this.#list.hidden = false;
    this.#input.setAttribute("aria-expanded", "true");
  }

  async #look() {
    this.#asking?.abort();
    const typed = this.#input.value;
    if (!typed.trim()) {
      this.#shown = "";
      return this.close();
    }
    const { signal } = (this.#asking = new AbortController());
    try {
      const response = await fetch(`${ROOT}api/search?${new URLSearchParams({ q: typed, book: this.#form.dataset.book })}`, { signal });
      if (!response.ok) throw new TypeError(response.statusText);
      this.#show(typed, (await response.json()).found);
    } catch (error) {
      if (error.name !== "AbortError") this.#show(typed, []), this.#tell(textOf("box.wrong"), true);
    }
  }

  #show(typed, found) {
    this.#shown = typed;
    this.#list.replaceChildren(...found.map((one, at) => this.#line(one, at)), this.#question(typed.trim(), found.length));
    this.#list.scrollTop = 0;
    this.#open();
    this.#mark(-1);
    if (!found.length) return this.#tell(textOf("box.nothing"), true);
    this.#tell(textOf("box.arrow_keys_choose", { places: countOf(found.length, "place") }));
  }

  #line({ kind, book_title: book, where, title, title_marks, text, text_marks, url, quote }, at) {
    const place = this.#form.dataset.book ? where : [book, where].filter(Boolean).join(" › ");
    const link = el(
      "a",
      { href: ROOT + url.slice(1), className: kind, id: `${this.#list.id}-${at}`, role: "option", tabIndex: -1, ariaSelected: "false" },
      marked("strong", title, title_marks),
      el("span", { className: "where", textContent: place }),
      Object.assign(marked("span", text, text_marks), { className: "text" }),
    );
    link.dataset.lutrinQuote = quote;
    return link;
  }

  #question(words, at) {
    const address = `${ROOT}search?${new URLSearchParams({ q: words, book: this.#form.dataset.book })}`;
    const said = el("span", {}, textOf("box.ask_for"), " ", el("q", { textContent: words }));
    return el("a", { href: address, className: "ask", id: `${this.#list.id}-${at}`, role: "option", tabIndex: -1, ariaSelected: "false" }, said, el("kbd", { ariaHidden: "true", textContent: textOf("box.enter") }));
  }

  /** A line was chosen: the page's own click leads there; the last one asks. */
  #chosen(event) {
    const line = event.target.closest("a");
    if (!line || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (line.className === "ask") {
      event.preventDefault();
      return this.#ask();
    }
    // The widget hears the click behind this one and marks the passage: only then does the list go.
    setTimeout(() => this.#leave());
  }

  #ask() {
    const question = this.#words;
    if (!question) return;
    this.#leave();
    this.#input.value = this.#shown = "";
    ask(question);
  }

  #leave() {
    this.close();
    this.#form.closest("dialog")?.close();
  }

  #key(event) {
    const ways = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key === "Escape") {
      event.preventDefault();
      if (!this.#list.hidden && !this.#form.closest("dialog")) this.close();
      else this.#leave();
    } else if (event.key in ways && !event.altKey) {
      event.preventDefault();
      if (this.#list.hidden && this.#shown) this.#open();
      const count = this.#options.length;
      // One more place than there are lines: the box itself.
      if (count) this.#mark(((this.#at + 1 + ways[event.key] + count + 1) % (count + 1)) - 1);
    }
  }

  #mark(at) {
    const options = this.#options;
    for (const [number, option] of options.entries()) option.ariaSelected = String(number === at);
    this.#at = at;
    if (options[at]) {
      this.#input.setAttribute("aria-activedescendant", options[at].id);
      options[at].scrollIntoView({ block: "nearest" });
    } else {
      this.#input.removeAttribute("aria-activedescendant");
    }
  }

  /** @param shown Not for screen readers alone. */
  #tell(text, shown = false) {
    this.#said.classList.toggle("quietly", !shown);
    this.#said.textContent = text;
  }
}

/** A text with some of its parts marked; offsets count characters, which JavaScript's strings do not. */
function marked(name, text, marks) {
  const letters = [...text];
  const part = (from, to) => letters.slice(from, to).join("");
  const element = el(name);
  let end = 0;
  for (const [from, to] of marks) {
    element.append(part(end, from), el("mark", { textContent: part(from, to) }));
    end = to;
  }
  element.append(part(end));
  return element;
}

const boxes = new Map([...document.querySelectorAll("form[data-box]")].map((form) => [form, new Box(form)]));
const finder = document.getElementById("lutrin:finder");
const main = [...boxes.keys()].find((form) => !form.closest("dialog"));

function seek() {
  if (finder?.open) return;
  if (main) return boxes.get(main).focus();
  if (!finder) return;
  finder.showModal();
  boxes.get(finder.querySelector("form")).focus();
}

for (const button of document.querySelectorAll("[data-open-finder]")) button.addEventListener("click", seek);
for (const link of document.querySelectorAll("[data-ask]")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    ask(link.dataset.ask);
  });
}
// Beside the box is out of it.
finder?.addEventListener("click", (event) => event.target === finder && finder.close());
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select, [contenteditable], lutrin-chat");
  const slash = event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (!slash && !(event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey))) return;
  event.preventDefault();
  seek();
});
