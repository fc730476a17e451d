// One message of the conversation as elements.

import { el } from "./dom.js";
import { render } from "./markdown.js";
import { remember } from "./mark.js";
import { judge } from "./stream.js";

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

/** What the reader said. */
export function asked(text, created) {
  const when = new Date(created);
  return el("div", { className: "lutrin-message lutrin-user" }, text, time(when));
}

/** An answer that grows: `sources`, `quote`, `sentence`, then `finish` or `fail`. */
export class Answering {
  constructor(id = "") {
    this.id = id;
    this.citations = new Map();
    this.quotes = [];
    this.text = "";
    this.body = el("div", {}, dots());
    this.element = el("div", { className: "lutrin-message lutrin-assistant" }, this.body);
  }

  sources(citations) {
    for (const citation of citations) this.citations.set(citation.n, citation);
  }

  quoted(text, citation) {
    this.sources([citation]);
    const parts = render(text, () => null);
    parts.at(-1)?.append(" ", link(citation));
    this.quotes.push(el("blockquote", { className: "lutrin-quote" }, ...parts));
    this.draw(true);
  }

  sentence(text) {
    this.text += (this.text ? " " : "") + text;
    this.draw(true);
  }

  waiting(position) {
    const place = el("span", { className: "lutrin-warning" }, position > 1 ? ` Place ${position} in the queue.` : "");
    this.body.replaceChildren(dots(), place);
  }

  /** The whole answer; it replaces what was streamed. */
  finish({ text, citations, warnings = [], suggestions = [], created }) {
    this.quotes = [];
    this.text = text;
    this.citations = new Map(citations.map((citation) => [citation.n, citation]));
    this.draw(false);
    const notes = warnings.map((warning) => el("p", { className: "lutrin-warning" }, warning));
    if (suggestions.length) notes.push(el("p", { className: "lutrin-warning" }, `Covered in the book: ${suggestions.join(", ")}`));
    this.element.append(...notes, ...this.tags(), this.meta(created));
  }

  /** What was sent stays; a sentence says what happened, and a button asks again. */
  fail(detail, retry) {
    if (this.text || this.quotes.length) this.draw(false);
    else this.body.replaceChildren();
    const again = el("button", { type: "button" }, "Try again");
    again.addEventListener("click", retry, { once: true });
    this.element.append(el("p", { className: "lutrin-error", role: "alert" }, detail), el("div", { className: "lutrin-meta" }, again));
  }

  draw(busy) {
    const cite = (n) => (this.citations.has(n) ? link(this.citations.get(n)) : null);
    const parts = this.text ? render(this.text, cite) : [];
    this.body.replaceChildren(...this.quotes, ...parts, ...(busy ? [dots()] : []));
  }

  tags() {
    const seen = new Map();
    const cited = [...this.text.matchAll(/\[(\d{1,3})\]/g)].map((match) => this.citations.get(Number(match[1])));
    for (const citation of cited) if (citation?.url && !seen.has(citation.url)) seen.set(citation.url, citation);
    if (!seen.size) return [];
    const items = [...seen.values()].map((citation) => el("li", {}, link(citation, citation.section_title || citation.filename)));
    return [el("ul", { className: "lutrin-sources", ariaLabel: "Sources" }, ...items)];
  }

  meta(created) {
    const copy = el("button", { type: "button" }, "Copy");
    copy.addEventListener("click", async () => {
      await navigator.clipboard?.writeText(this.text);
      copy.textContent = "Copied";
    });
    const buttons = this.id ? [this.thumb("up", "Helpful"), this.thumb("down", "Not helpful")] : [];
    return el("div", { className: "lutrin-meta" }, time(new Date(created)), copy, ...buttons);
  }

  thumb(value, label) {
    const button = el("button", { type: "button", ariaPressed: "false" }, label);
    button.addEventListener("click", async () => {
      await judge(this.id, value);
      for (const other of button.parentElement.querySelectorAll("[aria-pressed]")) other.ariaPressed = "false";
      button.ariaPressed = "true";
    });
    return button;
  }
}

function link(citation, label = `[${citation.n}]`) {
  if (!citation.url) return el("span", { className: "lutrin-cite", title: citation.quote }, label); // of selected words
  const where = [citation.chapter, citation.section_title].filter(Boolean).join(", ");
  const anchor = el("a", { href: citation.url, title: `${citation.quote}\n${where}` }, label);
  if (label === `[${citation.n}]`) anchor.className = "lutrin-cite";
  anchor.addEventListener("click", () => remember(citation));
  return anchor;
}

function time(when) {
  return el("time", { dateTime: when.toISOString() }, clock.format(when));
}

function dots() {
  const label = el("span", { className: "lutrin-dots", role: "img", ariaLabel: "The answer is being written" });
  label.append(el("i"), el("i"), el("i"));
  return label;
}
