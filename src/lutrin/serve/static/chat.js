// The chat panel of the built-in reader.

import { el, icon } from "./dom.js";
import { mark } from "./mark.js";
import { Answering, asked } from "./message.js";
import { offerOnSelection } from "./selection.js";
import { ask, history, identity, Refused } from "./stream.js";

const WRONG = "Something went wrong. Please try again.";
const book = document.querySelector('meta[name="lutrin-book"]')?.content ?? "";

class Panel {
  constructor() {
    this.selection = "";
    this.running = null;
    this.opener = el("button", { type: "button", className: "lutrin-open", ariaLabel: "Ask the book", ariaExpanded: "false" });
    this.opener.append(icon("M4 5h16v11H9l-5 4z M8 9h8 M8 12h5"));
    this.log = el("div", { className: "lutrin-log", role: "log", ariaLive: "polite", tabIndex: 0, ariaLabel: "Conversation" });
    this.input = el("textarea", { rows: 1, maxLength: 8000, disabled: true, placeholder: "Ask the book…", ariaLabel: "Your question" });
    this.send = el("button", { type: "submit", disabled: true }, "Send");
    this.chip = el("div", { className: "lutrin-chip", hidden: true });
    const close = el("button", { type: "button", ariaLabel: "Close" }, "✕");
    const renew = el("button", { type: "button" }, "New");
    renew.title = "Begin a new conversation";
    const form = el("form", { className: "lutrin-form" }, this.input, this.send);
    this.element = el(
      "section",
      { className: "lutrin-panel", hidden: true, ariaLabel: "Ask the book" },
      el("header", { className: "lutrin-head" }, el("h2", {}, "Ask the book"), renew, close),
      this.log,
      el("div", { className: "lutrin-foot" }, this.chip, form),
    );
    document.body.append(this.opener, this.element);
    this.opener.addEventListener("click", () => this.open());
    close.addEventListener("click", () => this.close());
    renew.addEventListener("click", () => this.renew());
    form.addEventListener("submit", (event) => this.submit(event));
    this.input.addEventListener("input", () => this.ready());
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) this.submit(event);
    });
    this.element.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
  }

  /** Messages of this browser's conversation, before input is allowed. */
  async restore() {
    try {
      const messages = await history();
      this.log.replaceChildren(...messages.map(shown));
      if (!messages.length) this.log.append(el("p", { className: "lutrin-empty" }, "Ask anything that the book covers."));
    } catch {
      this.log.replaceChildren(el("p", { className: "lutrin-error", role: "alert" }, WRONG));
    }
    this.input.disabled = false;
    this.ready();
    this.scroll();
  }

  open() {
    this.element.hidden = false;
    document.body.classList.add("lutrin-beside");
    this.opener.hidden = true;
    this.opener.ariaExpanded = "true";
    state("open", "yes");
    this.scroll();
    this.input.focus();
  }

  close() {
    this.element.hidden = true;
    document.body.classList.remove("lutrin-beside");
    this.opener.hidden = false;
    this.opener.ariaExpanded = "false";
    state("open", "");
    this.opener.focus();
    revealHere();
  }

  renew() {
    this.running?.abort();
    identity.renew();
    this.restore();
    this.input.focus();
  }

  /** Ask about a passage of the page. */
  about(text, question) {
    this.selection = text;
    const remove = el("button", { type: "button", ariaLabel: "Remove the selection" }, "✕");
    remove.addEventListener("click", () => this.forgetSelection());
    this.chip.replaceChildren(el("span", {}, text), remove);
    this.chip.hidden = false;
    this.open();
    if (question && !this.running) this.answer(question);
  }

  forgetSelection() {
    this.selection = "";
    this.chip.hidden = true;
    this.input.focus();
  }

  ready() {
    this.send.textContent = this.running ? "Stop" : "Send";
    this.send.disabled = this.running ? false : this.input.disabled || !this.input.value.trim();
  }

  submit(event) {
    event.preventDefault();
    if (this.running) {
      if (event.type === "submit") this.running.abort();
      return;
    }
    const text = this.input.value.trim();
    if (!text || this.input.disabled) return;
    this.input.value = "";
    this.answer(text);
  }

  async answer(text, selection = this.selection) {
    this.log.querySelector(".lutrin-empty")?.remove();
    const answering = new Answering();
    const question = asked(text, Date.now());
    this.log.append(question, answering.element);
    if (selection) this.forgetSelection();
    this.running = new AbortController();
    this.ready();
    this.scroll();
    const body = { session_id: identity.session, message: text, book: book || null, selected_text: selection || null };
    try {
      for await (const event of ask(body, this.running.signal)) {
        this.show(event, answering);
        if (event.type !== "done") this.scroll();
      }
    } catch (error) {
      const stopped = error.name === "AbortError";
      const detail = stopped ? "Stopped." : error instanceof Refused ? refused(error) : WRONG;
      if (!stopped && !this.input.value) this.input.value = text;
      answering.fail(detail, () => {
        question.remove();
        answering.element.remove();
        if (this.input.value === text) this.input.value = "";
        this.answer(text, selection);
      });
    }
    this.running = null;
    this.ready();
  }

  show(event, answering) {
    answering.id = event.message;
    if (event.type === "queued") answering.waiting(event.position);
    else if (event.type === "sources") answering.sources(event.citations);
    else if (event.type === "quote") answering.quoted(event.text, event.citation);
    else if (event.type === "sentence") answering.sentence(event.text);
    else if (event.type === "error") throw new Refused(event.detail);
    else if (event.type === "done") {
      const { answer: text, sources: citations, warnings, suggestions } = event;
      answering.finish({ text, citations, warnings, suggestions, created: Date.now() });
    }
  }

  /** Show the newest question and as much of its answer as fits. */
  scroll() {
    const newest = [...this.log.querySelectorAll(".lutrin-user")].at(-1);
    this.log.scrollTop = newest ? newest.offsetTop - this.log.offsetTop - 12 : 0;
  }
}

/** Scroll the table of contents to the page that is being read. */
function revealHere() {
  const here = document.querySelector(".aside [aria-current]");
  if (here) here.closest(".aside").scrollTop = here.offsetTop - innerHeight / 3;
}

function shown(message) {
  if (message.role === "user") return asked(message.text, message.created);
  const answering = new Answering(message.id);
  answering.finish(message);
  return answering.element;
}

function refused(error) {
  return error.retryAfter ? `${error.message} (${error.retryAfter} s)` : error.message;
}

function state(name, value) {
  try {
    if (value !== undefined) sessionStorage.setItem(`lutrin.${name}`, value);
    return sessionStorage.getItem(`lutrin.${name}`);
  } catch {
    return "";
  }
}

const panel = new Panel();
offerOnSelection((text, question) => panel.about(text, question));
await panel.restore();
if (state("open") && innerWidth > 544) panel.open();
revealHere();
mark();
