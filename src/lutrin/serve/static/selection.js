// Selecting text in the page offers Ask, Explain, Simplify.

import { el } from "./dom.js";

const MOST_CHARS = 12000;
const OFFERS = [
  ["Ask", ""],
  ["Explain", "Explain this passage."],
  ["Simplify", "Explain this passage in simpler words."],
];

/** Calls `choose(text, question)` when the reader takes up an offer; the question may be empty. */
export function offerOnSelection(choose) {
  const bar = el("div", { className: "lutrin-bar", role: "toolbar", ariaLabel: "Selected text", hidden: true });
  for (const [label, question] of OFFERS) {
    const button = el("button", { type: "button" }, label);
    button.addEventListener("click", () => {
      const text = selected();
      bar.hidden = true;
      getSelection()?.removeAllRanges();
      if (text) choose(text, question);
    });
    bar.append(button);
  }
  bar.addEventListener("pointerdown", (event) => event.preventDefault()); // keeps the selection
  document.body.append(bar);
  let waiting = 0;
  document.addEventListener("selectionchange", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => place(bar), 200);
  });
}

function place(bar) {
  if (bar.contains(document.activeElement)) return;
  bar.hidden = !selected();
  if (bar.hidden) return;
  const box = getSelection().getRangeAt(0).getBoundingClientRect();
  const left = Math.min(Math.max(8, box.left), document.documentElement.clientWidth - bar.offsetWidth - 8);
  bar.style.left = `${left + scrollX}px`;
  bar.style.top = `${box.bottom + scrollY + 8}px`;
}

function selected() {
  const selection = getSelection();
  const article = document.querySelector("article");
  if (!selection || selection.isCollapsed || !article?.contains(selection.anchorNode)) return "";
  return selection.toString().trim().slice(0, MOST_CHARS);
}
